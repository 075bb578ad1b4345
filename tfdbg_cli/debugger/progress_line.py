"""A progress line: rewritten in place on a terminal, printed every half minute elsewhere."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TextIO

from tfdbg_cli.plain_text import printable
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.streams import flush, standard_error, write

_BETWEEN_LINES = 30.0  # seconds
_BETWEEN_REWRITES = 1.0
_ACCOUNT = Path("/proc/self/io")  # counts what this process wrote; Linux only


class Progress(Protocol):
    """Where a watch tells how it goes."""

    def begin(self, words: Callable[[], str]) -> None:
        """A watch begins, of which `words` tell how it goes."""
        ...

    def tick(self, words: Callable[[], str]) -> None:
        """Take a sentence, if it is time to. Cheap in any case; several threads may call it."""
        ...


class ProgressLine:
    """Prints progress sentences on standard error.

    On a terminal the last line is replaced once a second, but only while this process has written nothing else since,
    to whatever file: so no output of the program is overwritten. `clock()` gives seconds, `written()` how many bytes
    this process has written so far, or None if the system does not tell.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, written: Callable[[], int | None] | None = None
    ) -> None:
        self._clock = clock
        self._written = written or bytes_written
        self._lock = threading.Lock()
        self._looked = self._said = clock()
        self._account: int | None = None  # `written()` right after our last line
        self._shown = False  # whether a line of ours is the last one

    def begin(self, words: Callable[[], str]) -> None:
        """Start anew: restart the intervals, and do not replace the line printed last. Nothing is said yet."""
        self._looked = self._said = self._clock()
        self._account = self._written()
        self._shown = False

    def tick(self, words: Callable[[], str]) -> None:
        """Say what `words` gives, if it is time to. Cheap when it is not; several threads may call it."""
        now = self._clock()
        if now - self._looked < _BETWEEN_REWRITES or not self._lock.acquire(blocking=False):
            return
        try:
            self._looked = now
            stream = standard_error()
            if stream is None:
                return
            terminal = _is_terminal(stream)
            alone = terminal and self._account is not None and self._account == self._written()
            if alone or now - self._said >= _BETWEEN_LINES:
                self._say(stream, words(), over=alone and self._shown, terminal=terminal)
                self._said = now
        finally:
            self._lock.release()

    def _say(self, stream: TextIO, sentence: str, *, over: bool, terminal: bool) -> None:
        text = f"tfdbg: {printable(sentence)}"
        if terminal:
            cols = _columns()
            text = text if len(text) < cols else f"{text[: max(0, cols - 2)]}…"
        before = self._written()
        try:
            write(stream, f"\x1b[1A\r\x1b[2K{text}\n" if over else f"{text}\n")
            flush(stream)
        except our_errors():  # the terminal is gone, or an object of the program's own cannot take it
            return
        after = self._written()
        # Some systems have the counter but do not update it: then nothing can be overwritten safely.
        self._account = after if after != before else None
        self._shown = True


def bytes_written() -> int | None:
    """How many bytes this process has written so far, to whatever; None where the system does not count them."""
    try:
        rows = _ACCOUNT.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(row.split()[1]) for row in rows if row.startswith("wchar:")), None)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    except (AttributeError, ValueError):
        return False


def _columns() -> int:
    try:
        return os.get_terminal_size(2).columns or 80
    except OSError:
        return 80
