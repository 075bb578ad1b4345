"""A waiting line that a thread draws, while what is waited for works in one piece, or seldom tells how far it is."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from tfdbg_cli.line.waiting_line import WaitingLine
from tfdbg_cli.process.own_threads import OwnThread

_BETWEEN = 0.5  # seconds between two looks at how far it is


class BusyLine:
    """Drawn on the terminal behind `stream` as long as it is entered: `doing` says what goes on, `end` what Ctrl-C
    does. It shows the share that is done, where that was told, else the seconds that it took so far.
    """

    def __init__(self, stream: TextIO, doing: str = "working", end: str = "stops") -> None:
        self._stream = stream
        self._line = WaitingLine(stream, doing=doing, end=end)
        self._share: float | None = None
        self._begun = time.monotonic()
        self._over = threading.Event()
        self._thread = OwnThread(target=self._draw, name="tfdbg-busy-line", daemon=True)

    def tell(self, share: float) -> None:
        """Say how much is done. This may be called as often as one likes."""
        self._share = share

    def __enter__(self) -> BusyLine:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        try:
            self._thread.join()
        finally:
            with suppress(ValueError, OSError):  # nobody reads any more: whoever writes the answer says so
                self._line.wipe()

    def _draw(self) -> None:
        with suppress(ValueError, OSError):
            while not self._over.wait(_BETWEEN):
                took = f"{time.monotonic() - self._begun:.0f} s"
                self._line.say(took if self._share is None else f"{self._share:.0%}")
