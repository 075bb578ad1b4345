"""What Python prints in one thread, caught for a page; what other threads print goes where it always does."""

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
