"""Standard input that is no terminal: whether the program reads it, so that there are no commands for us in it.

Nobody knows beforehand whose a pipe is. So what we have read as commands is given to the program all the same, should
it read from its standard input after that: its input is whole, whatever we took it for.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

_DESCRIPTOR = 0


class _Noticed(io.FileIO):
    """The file behind standard input, as the program reads it: it notices that, and begins with what we have read."""

    def __init__(self, name: object) -> None:
        super().__init__(_DESCRIPTOR, "rb", closefd=False)
        self.name: Any = name
        self.taken = False  # whether the program has read from it
        self._commands = bytearray()  # what we have read, and the program has not

    def read(self, size: int | None = -1, /) -> bytes | Any:
        if size is None or size < 0:
            return self.readall()
        self.taken = True
        return self._left(size) or super().read(size)

    def readall(self) -> bytes | Any:
        self.taken = True
        return self._left(len(self._commands)) + (super().readall() or b"")

    def readinto(self, buffer: Any, /) -> int | Any:
        self.taken = True
        left = self._left(memoryview(buffer).nbytes)
        if not left:
            return super().readinto(buffer)
        memoryview(buffer).cast("B")[: len(left)] = left
        return len(left)

    def command(self) -> bytes:
        """A line, for us; nothing at the end. No more than it is read, since processes may share the descriptor."""
        line = bytearray()
        while not line.endswith(b"\n") and (byte := os.read(_DESCRIPTOR, 1)):
            line += byte
            self._commands += byte
        return bytes(line)

    def _left(self, most: int) -> bytes:
        found = bytes(self._commands[:most])
        del self._commands[:most]
        return found


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


def command_line() -> str:
    """The next line of the stream that commands come from; empty at its end.

    Raises:
        UnicodeDecodeError: it is no text.
        AttributeError, OSError, ValueError: there is no such stream, or one that is not for reading.

    """
    found = _noticed()
    if found is None or _noticing is None:
        return sys.stdin.readline()
    if _noticing.closed:
        raise ValueError("Standard input is closed.")
    return found.command().decode(_noticing.encoding, _noticing.errors or "strict")


def is_taken() -> bool:
    """Whether the program has read from standard input, as far as that was noticed."""
    found = _noticed()
    return found is not None and found.taken


def reader() -> str:
    """Who but us reads standard input, or will by the program's text, as the subject of a sentence; empty for nobody.

    Where the program has put something else in the place of standard input, its text speaks of that.
    """
    if is_taken():
        return "The program"
    if _noticing is None or sys.stdin is not _noticing:
        return ""
    from tfdbg_cli.process.program_text import place_of_reader  # which nobody needs who opens a file

    place = place_of_reader()
    return f"The program ({place})" if place else ""


def _noticed() -> _Noticed | None:
    raw = getattr(getattr(_noticing, "buffer", None), "raw", None)
    return raw if isinstance(raw, _Noticed) else None
