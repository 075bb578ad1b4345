"""One line of a terminal that says how far a long command is, and is gone when it is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from tfdbg_cli.process.streams import flush, write

_PATIENCE = 0.5  # seconds before anything is said: most commands are done by then
_BETWEEN = 0.2  # seconds


class WaitingLine:
    """Written on the terminal behind `stream`; `clock` gives seconds. `doing` says what goes on, `end` what Ctrl-C
    does.
    """

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        doing: str = "reading values",
        end: str = "stops",
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._doing = doing
        self._end = end
        self._next = clock() + _PATIENCE
        self._shown = ""

    def tell(self, share: float | None) -> None:
        """Say how much is done, where that is known (None: it is not)."""
        self.say("" if share is None else f"{share:.0%}")

    def say(self, done: str) -> None:
        """Say `done`, which tells how far it is."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _BETWEEN
        self._show(f"{self._doing} … {done}".rstrip() + f"  (Ctrl-C {self._end})")

    def wipe(self) -> None:
        """Leave the line as it was."""
        if self._shown:
            self._show("")

    def _show(self, text: str) -> None:
        write(self._stream, f"\r{text.ljust(len(self._shown))}" + "\r" * (not text))
        flush(self._stream)
        self._shown = text
