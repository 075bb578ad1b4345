"""Python that a user has run: what it prints in one thread, caught for a page, and input that it cannot close."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any


class _OfOneThread:
    """Standard output whose text is kept in `caught` for the thread that made this, and written for all others."""

    def __init__(self, stream: Any, caught: StringIO) -> None:
        self._stream = stream
        self._caught = caught
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        stream = self._caught if threading.get_ident() == self._thread else self._stream
        return int(stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Kept:
    """A stream that `exit()`, which closes what it was typed into, leaves open."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Do nothing."""


@contextmanager
def reading(stream: Any) -> Iterator[None]:
    """A context in which Python reads `stream` as standard input, and does not close it."""
    before = sys.stdin
    sys.stdin = instead = _Kept(stream)
    try:
        yield
    finally:
        if sys.stdin is instead:
            sys.stdin = before


@contextmanager
def printed() -> Iterator[StringIO]:
    """A context in which what this thread prints on standard output is kept in what it gives."""
    before, caught = sys.stdout, StringIO()
    sys.stdout = instead = _OfOneThread(before, caught)
    try:
        yield caught
    finally:
        if sys.stdout is instead:  # else it was replaced meanwhile, by what was run
            sys.stdout = before
