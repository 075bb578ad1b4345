"""Which of a program's runs are taken: the first, and every n-th after it."""

from __future__ import annotations

import threading
from collections import Counter


class OneInMany:
    """Counts runs as they begin, those of each kind apart. Used by several threads."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._lock = threading.RLock()
        self._counts: Counter[object] = Counter()

    def next(self, kind: object) -> bool:
        """Count a run that begins now; whether it is one of those that are taken."""
        with self._lock:
            self._counts[kind] += 1
            return (self._counts[kind] - 1) % self._every == 0

    @property
    def some(self) -> bool:
        """Whether others are left between those that are taken."""
        return self._every > 1

    @property
    def counted(self) -> int:
        """How many runs have begun."""
        with self._lock:
            return sum(self._counts.values())
