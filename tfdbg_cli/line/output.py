"""Where answers go: lines of text, in colour where the terminal shows it (JSON: `json_output`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Protocol, TextIO

from tfdbg_cli.document.ansi import ansi_row
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.table import Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, plain_row
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import Decision
from tfdbg_cli.process.streams import flush, write


class LineOutput(Protocol):
    """Prints what a conversation says. BrokenPipeError when nobody reads any more."""

    def begin(self) -> None:
        """Called when the program stops, as its last output may be an unfinished line, such as a progress bar."""
        ...

    def title(self, title: Line) -> None:
        """Which stop this is."""
        ...

    def echo(self, command: str) -> None:
        """Print a command that does not come from a terminal, and so is not on the screen yet."""
        ...

    def wait(self, steps: Iterator[float | None]) -> None:
        """Run `steps`, the slow part of a command, and show its progress.

        An implementation may skip them: the command then does that work itself.
        """
        ...

    def working(self) -> AbstractContextManager[object]:
        """Show, as long as it is entered, that a command works which tells nothing of how far it is."""
        ...

    def document(self, command: str, document: Document) -> None:
        """What `command` answered."""
        ...

    def decision(self, command: str, decision: Decision) -> None:
        """What `command` decided."""
        ...

    def error(self, command: str, error: TfdbgError) -> None:
        """What went wrong with `command`, and the way out."""
        ...

    def note(self, sentence: str) -> None:
        """Print a sentence of the debugger's own."""
        ...


_LINES_AT_ONCE = 500
_MOST_LINES = 2_000  # of a listing, on a stream that nobody can turn back
_BEFORE_FOCUS = 3  # lines printed before the one that a document is about
_WORTH_LEAVING_OUT = 10  # lines above that


class TextOutput:
    """Answers for people."""

    def __init__(self, stream: TextIO, *, color: bool, width: int | None) -> None:
        self._stream = stream
        self._row = ansi_row if color else plain_row
        self._width = width

    def begin(self) -> None:
        self._print([EMPTY_LINE])

    def title(self, title: Line) -> None:
        self._print([line(Span("--- ", Style.DIM), *title.spans, Span(" ---", Style.DIM))])

    def echo(self, command: str) -> None:
        self._print([line(f"tfdbg> {command}")])

    def wait(self, steps: Iterator[float | None]) -> None:
        if self._width is None:  # no terminal
            return
        from tfdbg_cli.line.waiting_line import WaitingLine  # a script has no terminal

        told = WaitingLine(self._stream)
        try:
            for share in steps:
                told.tell(share)
        finally:
            told.wipe()

    def working(self) -> AbstractContextManager[object]:
        if self._width is None:
            return nullcontext()
        from tfdbg_cli.line.busy_line import BusyLine  # a script has no terminal

        return BusyLine(self._stream)

    def document(self, command: str, document: Document) -> None:
        with self.working():
            lines = document.lines(self._width)
        above = max(0, (document.focus or 0) - _BEFORE_FOCUS)
        if above >= _WORTH_LEAVING_OUT:
            # A screen scrolls to the line asked for (`ps FILE -b 500`); a stream begins a little before it.
            self._print([lines[0], line(Span(f"… {above - 1} lines above; `> FILE` writes them all", Style.DIM))])
            lines = lines[above:]
        left = len(lines) - _MOST_LINES
        if left <= 0 or not any(isinstance(block, Table) for block in document.blocks):
            self._print(lines)
            return
        self._print(islice(lines, _MOST_LINES))
        verb = command.split()[0]
        rest = f"… {left:,} lines more: `{verb} … > FILE` writes them all, `help {verb}` tells how to choose"
        self._print([line(Span(rest, Style.HINT))])

    def decision(self, command: str, decision: Decision) -> None:
        """Nothing: the program that goes on is answer enough."""

    def error(self, command: str, error: TfdbgError) -> None:
        hint = [Span(f" {error.hint}", Style.HINT)] if error.hint else []
        rows = [line(Span(row, Style.ERROR)) for row in error.message.split("\n")] or [line()]
        self._print([*rows[:-1], line(*rows[-1].spans, *hint)])

    def note(self, sentence: str) -> None:
        self._print([line(Span(sentence, Style.DIM))])

    def _print(self, lines: Iterable[Line]) -> None:
        # Many lines at a time: a stream that goes to a terminal or a pipe hands each write on.
        rows = map(self._row, lines)
        while chunk := self._made(rows):
            write(self._stream, "\n".join([*chunk, ""]))
        flush(self._stream)

    def _made(self, rows: Iterator[str]) -> list[str]:
        """The next of `rows`, which are made when they are asked for: of a large array that takes its time."""
        with self.working():
            return list(islice(rows, _LINES_AT_ONCE))
