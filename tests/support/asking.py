"""Asking a stop: a command string in, its document, text, links or JSON out."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.jsonlines import document_json
from tfdbg_cli.document.text import plain
from tfdbg_cli.model.runs import Run, RunEnd, Stop


@cache
def _registry() -> Registry:
    return standard_registry()


def ask(command: str, stop: Stop | Run, *, width: int | None = 80) -> Document:
    """The document that `command` answers at `stop` (a run means the end of it)."""
    event = RunEnd(stop) if isinstance(stop, Run) else stop
    outcome = execute(command, Context(event, width=width), _registry())
    assert isinstance(outcome, Document)
    return outcome


def text_of(command: str, stop: Stop | Run, *, width: int | None = 80) -> str:
    """The document as plain text."""
    return plain(ask(command, stop, width=width).lines(width))


def links_of(command: str, stop: Stop | Run, *, width: int | None = 80) -> dict[str, str]:
    """What each linked text leads to; the last one of equal texts."""
    lines = ask(command, stop, width=width).lines(width)
    return {span.text.strip(): span.link for line in lines for span in line.spans if span.link}


def json_of(command: str, stop: Stop | Run) -> dict[str, Any]:
    """The document as `--json` prints it, read back."""
    found: dict[str, Any] = json.loads(document_json(command, ask(command, stop)))
    return found


def follow_all(command: str, stop: Stop | Run) -> int:
    """Follow every link of the document; each must be answered. Returns how many there were."""
    links = links_of(command, stop)
    event = RunEnd(stop) if isinstance(stop, Run) else stop
    for link in links.values():
        execute(link, Context(event, width=80), _registry())
    return len(links)
