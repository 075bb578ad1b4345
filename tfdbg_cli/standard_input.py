"""Standard input that is no terminal: whether the program reads it, so that there are no commands for us in it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_DESCRIPTOR = 0


class _Noticed(io.FileIO):
    """The file behind standard input. It notices who reads from it; what was read ahead is read by who did so."""

    def __init__(self, name: object) -> None:
        super().__init__(_DESCRIPTOR, "rb", closefd=False)
        self.name: Any = name
        self.by_us = False  # whether we are reading at this moment
        self.taken = False  # whether the program has read from it

    def read(self, size: int | None = -1, /) -> bytes | Any:
        self._notice()
        return super().read(-1 if size is None else size)

    def readall(self) -> bytes | Any:
        self._notice()
        return super().readall()

    def readinto(self, buffer: Any, /) -> int | Any:
        self._notice()
        return super().readinto(buffer)

    def _notice(self) -> None:
        self.taken = self.taken or not self.by_us


_noticing: io.TextIOWrapper | None = None  # standard input since `notice_readers`


def notice_readers() -> None:
    """Have standard input notice from now on whether the program reads it; nothing where that is a terminal.

    The program sees a stream of the same type, name and encoding in its place.
    """
    global _noticing
    before = sys.stdin
    raw = getattr(getattr(before, "buffer", None), "raw", None)
    if not isinstance(before, io.TextIOWrapper) or type(raw) is not io.FileIO or raw.fileno() != _DESCRIPTOR:
        return
    if raw.isatty():
        return
    buffer = io.BufferedReader(_Noticed(raw.name))
    after = io.TextIOWrapper(buffer, before.encoding, before.errors, "\n", before.line_buffering)
    after.mode = before.mode  # type: ignore[misc]
    sys.stdin = sys.__stdin__ = _noticing = after  # type: ignore[misc]


def commands_stream() -> TextIO:
    """The stream that commands come from: what the program puts in the place of standard input is its own."""
    return _noticing or sys.stdin


def is_taken() -> bool:
    """Whether the program has read from standard input, as far as that was noticed."""
    found = _noticed()
    return found is not None and found.taken


@contextmanager
def reading_commands() -> Iterator[None]:
    """A context in which we read standard input, and the program does not."""
    found = _noticed()
    if found is None:
        yield
        return
    found.by_us = True
    try:
        yield
    finally:
        found.by_us = False


def _noticed() -> _Noticed | None:
    raw = getattr(getattr(_noticing, "buffer", None), "raw", None)
    return raw if isinstance(raw, _Noticed) else None
