"""Which parts of a file are there."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right

from tfdbg_cli.formats.recording.stand_in import Part


class Extents:
    """Parts of a file, none of which touches another one. Used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starts: list[int] = []
        self._ends: list[int] = []

    def missing(self, start: int, end: int) -> list[Part]:
        """The parts between `start` and `end` that are not there."""
        with self._lock:
            return self._missing(start, end)

    def _missing(self, start: int, end: int) -> list[Part]:
        found: list[Part] = []
        at = bisect_right(self._ends, start)
        while start < end:
            until = min(end, self._starts[at]) if at < len(self._starts) else end
            if start < until:
                found.append((start, until))
            if at == len(self._starts):
                break
            start, at = max(start, self._ends[at]), at + 1
        return found

    def add(self, start: int, end: int) -> None:
        """From now on what lies between `start` and `end` is there."""
        with self._lock:
            first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
            if first < last:
                start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
            self._starts[first:last] = [start]
            self._ends[first:last] = [end]
