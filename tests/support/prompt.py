"""A prompt for tests of commands: strings in, text, JSON, decisions or errors out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.registry import Outcome
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config import Settings
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.jsonlines import document_json
from tfdbg_cli.document.text import Span, plain
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Stop

_REGISTRY = standard_registry()


class Prompt:
    """The prompt of one stop."""

    def __init__(
        self,
        stop: Stop,
        filters: Mapping[str, TensorFilter] = BUILT_IN_FILTERS,
        settings: Settings | None = None,
        width: int | None = 80,
    ) -> None:
        self.context = Context(stop, settings or Settings(), {**BUILT_IN_FILTERS, **filters}, width)
        self.width = width

    def run(self, command: str) -> Outcome:
        return execute(command, self.context, _REGISTRY)

    def document(self, command: str) -> Document:
        outcome = self.run(command)
        assert isinstance(outcome, Document)
        return outcome

    def show(self, command: str, width: int | None = 80) -> str:
        return plain(self.document(command).lines(width))

    def data(self, command: str) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(document_json(command, self.document(command)))
        return loaded

    def error(self, command: str) -> TfdbgError:
        with pytest.raises(TfdbgError) as caught:
            self.run(command)
        return caught.value

    def spans(self, command: str) -> Iterator[Span]:
        for line in self.document(command).lines(self.width):
            yield from line.spans

    def link(self, command: str, text: str) -> str:
        """The command behind the first span whose text starts with `text`."""
        return next(span.link for span in self.spans(command) if span.text.startswith(text) and span.link)

    def links(self, command: str) -> list[str]:
        return [span.link for span in self.spans(command) if span.link]
