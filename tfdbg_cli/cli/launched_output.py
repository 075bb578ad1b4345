"""Standard output as it was when the process was launched, wherever the program sends its own meanwhile."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO, cast

_DESCRIPTOR = 1


class _Launched:
    """A stream that writes by `stream`, the sys.stdout at launch, as long as descriptor 1 leads where it led then.

    Else, as in tests under pytest, which takes what they print, by a descriptor of its own. A forked child has none:
    one that goes on in the background must not keep the pipe open that somebody reads.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._place = _place(_DESCRIPTOR)
        self._file: io.FileIO | None = io.FileIO(os.dup(_DESCRIPTOR), "w")
        self._apart = io.TextIOWrapper(io.BufferedWriter(self._file), stream.encoding, "backslashreplace")
        os.register_at_fork(after_in_child=self._forget)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now(), name)

    def _now(self) -> TextIO:
        if self._file is None or _place(_DESCRIPTOR) == self._place:
            return self._stream
        return self._apart

    def _forget(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def launched_output() -> TextIO | None:
    """The stream for what we show: standard output as it is now, whatever the program does to it later."""
    stream = sys.stdout
    try:
        if stream.fileno() == _DESCRIPTOR:
            return cast("TextIO", _Launched(stream))
    except (AttributeError, OSError, ValueError):  # none, closed, or no file
        pass
    return stream


def _place(descriptor: int) -> tuple[int, int] | None:
    """The file behind `descriptor`; None where that is closed."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino
