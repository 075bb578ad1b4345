"""A prompt for tests of commands: strings in, documents, text, links, JSON, decisions or errors out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from support.plain_text import plain
from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.registry import Outcome
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.jsonlines import document_json
from tfdbg_cli.document.text import Span
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Run, RunEnd, Stop

_REGISTRY = standard_registry()


class Prompt:
    """The prompt of one stop; a run means the end of it."""

    def __init__(
        self,
        stop: Stop | Run,
        filters: Mapping[str, TensorFilter] = BUILT_IN_FILTERS,
        settings: Settings | None = None,
        width: int | None = 80,
    ) -> None:
        event = RunEnd(stop) if isinstance(stop, Run) else stop
        self.context = Context(event, settings or Settings(), {**BUILT_IN_FILTERS, **filters}, width)
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


def ask(command: str, stop: Stop | Run, *, width: int | None = 80) -> Document:
    """The document that `command` answers at a prompt of its own."""
    return Prompt(stop, width=width).document(command)


def text_of(command: str, stop: Stop | Run, *, width: int | None = 80) -> str:
    """The document as plain text."""
    return Prompt(stop, width=width).show(command, width)


def json_of(command: str, stop: Stop | Run) -> dict[str, Any]:
    """The document as `--json` prints it, read back."""
    return Prompt(stop).data(command)


def links_of(command: str, stop: Stop | Run, *, width: int | None = 80) -> dict[str, str]:
    """What each linked text leads to; the last one of equal texts."""
    return {span.text.strip(): span.link for span in Prompt(stop, width=width).spans(command) if span.link}


def follow_all(command: str, stop: Stop | Run) -> int:
    """Follow every link of the document; each must be answered. Returns how many there were."""
    links = links_of(command, stop)
    for link in links.values():
        Prompt(stop).run(link)
    return len(links)
