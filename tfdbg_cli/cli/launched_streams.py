"""The standard streams as they were when the process was launched, wherever the program leads its own meanwhile."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO, cast

from tfdbg_cli.process.own_descriptor import OwnDescriptor

_OUTPUT, _ERROR = 1, 2  # their descriptors


class _Launched:
    """A stream that writes by `stream`, of the launch, as long as `descriptor` leads where it led then.

    Else, as in tests under pytest, which takes what they print, by a descriptor of its own. A forked child has none:
    one that goes on in the background must not keep the pipe open that somebody reads.
    """

    def __init__(self, stream: TextIO, descriptor: int) -> None:
        self._stream = stream
        self._first = OwnDescriptor(descriptor)
        number = os.dup(descriptor)
        self._copy: OwnDescriptor | None = OwnDescriptor(number)
        # Not closed with the stream: the program may have closed it, and have a file of its own by that number.
        file = io.FileIO(number, "w", closefd=False)
        self._apart = io.TextIOWrapper(io.BufferedWriter(file), stream.encoding, "backslashreplace")
        os.register_at_fork(after_in_child=self._forget)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now(), name)

    def _now(self) -> TextIO:
        if self._copy is None or self._copy.lost or not self._first.lost:
            return self._stream
        return self._apart

    def _forget(self) -> None:
        if self._copy is not None:
            self._copy.close()
            self._copy = None


def launched_output() -> TextIO | None:
    """The stream for what we show: standard output as it is now, whatever the program does to it later."""
    return _launched(sys.stdout, _OUTPUT) or sys.stdout


def launched_error() -> TextIO | None:
    """The stream for what we say: standard error as `launched_output`; None where it is no stream of the process."""
    return _launched(sys.stderr, _ERROR)


def _launched(stream: TextIO | None, descriptor: int) -> TextIO | None:
    try:
        if stream is not None and stream.fileno() == descriptor:
            return cast("TextIO", _Launched(stream, descriptor))
    except (AttributeError, OSError, ValueError):  # closed, or no file
        pass
    return None
