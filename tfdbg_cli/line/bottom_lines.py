"""The lowest lines of a terminal, kept for us: what the program writes scrolls above them.

By the scrolling region of VT100 terminals (DECSTBM, DECSC, DECRC), as package managers do for their progress. The
cursor, and how text is shown, are the program's again after each of our writes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_cli.process.own_descriptor import OwnDescriptor

if TYPE_CHECKING:
    from tfdbg_cli.line.terminal_signals import TerminalSignals

_SAVE, _RESTORE = "\x1b7", "\x1b8"
# The cursor comes home when the region changes, so it is saved before. It stands above our lines: they are erased.
GIVEN_BACK = f"{_SAVE}\x1b[r{_RESTORE}\x1b[J"
_LEAST_ROWS = 8  # of the program, in a terminal that is worth dividing
_FEWEST_COLUMNS = 20


class Size(NamedTuple):
    """Of the terminal, in characters."""

    columns: int
    rows: int


class BottomLines:
    """`count` lines at the bottom of the terminal `descriptor`.

    `changes` is told whether the terminal is divided, each time that changes. By `signals` it is noticed at once when
    the terminal has another size, or was somebody else's while the program was stopped.
    """

    def __init__(
        self,
        descriptor: OwnDescriptor,
        count: int,
        changes: Callable[[bool], None] = lambda on: None,
        signals: TerminalSignals | None = None,
    ) -> None:
        self._descriptor = descriptor
        self._count = count
        self._changes = changes
        self._signals = signals
        self._divided: Size | None = None
        self._stale = False  # the division, since somebody else may have undone it

    @property
    def columns(self) -> int:
        """How wide a line may be."""
        return self._size().columns

    @property
    def obstacle(self) -> str:
        """Why nothing would be drawn in the terminal as it is, as a sentence; empty where it would."""
        size, least = self._size(), Size(_FEWEST_COLUMNS, self._count + _LEAST_ROWS)
        if size.rows >= least.rows and size.columns >= least.columns:
            return ""
        return (
            f"--live draws nothing while the terminal has fewer than {least.rows} lines or {least.columns} columns;"
            f" it has {size.rows} and {size.columns}."
        )

    def wait(self, seconds: float) -> None:
        """Block so long, or until it is time to draw anew."""
        if self._signals is None:
            time.sleep(seconds)
        elif self._signals.wait(seconds):
            self._stale = True

    def draw(self, lines: Sequence[str]) -> None:
        """Show `lines`, which have their colours and fit; nothing where the terminal is too small, or not ours."""
        size = self._size()
        if not self._is_ours() or self.obstacle:
            self.give_back()
            return
        if size != self._divided or self._stale:
            self._divide(size)
        first = size.rows - self._count + 1
        rows = (f"\x1b[{first + at};1H\x1b[0m\x1b[2K{line}" for at, line in enumerate(lines[: self._count]))
        self._write(f"{_SAVE}{''.join(rows)}{_RESTORE}")

    def give_back(self) -> None:
        """Let the program have the whole terminal."""
        if self._divided is not None:
            self._divided = None
            self._write(GIVEN_BACK)
            self._changes(False)

    def _divide(self, size: Size) -> None:
        self.give_back()
        if self._signals is not None:
            self._signals.listen()
        self._changes(True)
        room = "\n" * self._count + f"\x1b[{self._count}A"  # what stands at the bottom scrolls up
        self._write(f"{room}{_SAVE}\x1b[1;{size.rows - self._count}r{_RESTORE}")
        self._divided, self._stale = size, False

    def _size(self) -> Size:
        try:
            return Size(*os.get_terminal_size(self._descriptor.number))
        except OSError:
            return Size(0, 0)

    def _is_ours(self) -> bool:
        """Whether the terminal listens to this process: in the background it belongs to the shell."""
        try:
            return os.tcgetpgrp(self._descriptor.number) == os.getpgrp()
        except OSError:
            return False

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal is gone: so are our lines
            os.write(self._descriptor.number, text.encode(errors="replace"))
