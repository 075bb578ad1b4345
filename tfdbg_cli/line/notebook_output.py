"""Answers in the cell of a notebook: HTML, and plain text for what shows no HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice

from tfdbg_cli.document.document import Document
from tfdbg_cli.document.exports.html import html_part
from tfdbg_cli.document.text import Line, Span, Style, line, plain_row
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import Decision

WIDTH = 110  # columns that a cell has room for
_MOST_LINES = 1_000  # of a listing: a notebook keeps what it shows, in its file too

_BOX = "max-height:45em;overflow:auto"

Show = Callable[[dict[str, str]], None]
"""Shows one thing, given as a text for each MIME type."""


def display(shown: dict[str, str]) -> None:
    """Show it in the cell that runs."""
    from IPython.display import display as display_in_cell

    display_in_cell(shown, raw=True)


class NotebookOutput:
    """Answers for people who read them in a browser."""

    def __init__(self, show: Show = display) -> None:
        self._show = show

    def begin(self) -> None:
        """Nothing: each answer is a block of its own."""

    def title(self, title: Line) -> None:
        self._lines([title])

    def echo(self, command: str) -> None:
        self._lines([line(Span(f"tfdbg> {command}", Style.KEY))])

    def wait(self, steps: Iterator[float | None]) -> None:
        """Nothing: a cell shows by itself that it is busy."""

    def working(self) -> AbstractContextManager[object]:
        return nullcontext()

    def document(self, command: str, document: Document) -> None:
        lines = document.lines(WIDTH)
        shown = list(islice(lines, _MOST_LINES))
        if len(lines) > _MOST_LINES:
            rest = f"… {len(lines) - _MOST_LINES:,} lines more: `{command} > FILE` writes them all"
            shown.append(line(Span(rest, Style.HINT)))
        self._lines(shown)

    def decision(self, command: str, decision: Decision) -> None:
        """Nothing: the program that goes on is answer enough."""

    def error(self, command: str, error: TfdbgError) -> None:
        rows = [line(Span(row, Style.ERROR)) for row in error.message.split("\n")]
        hints = [line(Span(row, Style.HINT)) for row in error.hint.split("\n")] if error.hint else []
        self._lines([*rows, *hints])

    def note(self, sentence: str) -> None:
        if sentence:
            self._lines([line(Span(sentence, Style.DIM))])

    def _lines(self, lines: Sequence[Line]) -> None:
        text = "\n".join(map(plain_row, lines))
        self._show({"text/html": f'<div style="{_BOX}">{html_part(lines)}</div>', "text/plain": text})
