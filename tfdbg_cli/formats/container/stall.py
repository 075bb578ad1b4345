"""Telling a disk that does not answer from a thread that writes and is only slow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

LOOKS = 10
"""So many times in a row nothing may have been seen to go on before a disk counts as stalled."""

_LEAST_SHARE = 1000  # a thread that computes has more than a thousandth of the time, however busy the machine is


class ThreadClock:
    """How long a thread has computed. While it waits for a disk, it does not."""

    def __init__(self) -> None:
        self._clock: int | None = None

    def start(self) -> None:
        """Tell of the thread that calls this."""
        if hasattr(time, "pthread_getcpuclockid"):  # macOS has none: there only the bytes tell
            self._clock = time.pthread_getcpuclockid(threading.get_ident())

    def seconds(self) -> float:
        """Seconds of a processor that the thread has had; 0 where that cannot be told, as once it has ended."""
        if self._clock is not None:
            with suppress(OSError):
                return time.clock_gettime(self._clock)
        return 0.0


class StallWatch:
    """Looks every now and then whether writing goes on: the disk takes bytes, or the thread that writes computes.

    One look alone tells little: the whole program may have been suspended, or the thread had no turn. So a disk has
    stalled when several looks in a row, over `patience` seconds in all, saw neither.
    """

    def __init__(self, patience: float, taken: Callable[[], int], computed: Callable[[], float]) -> None:
        """Begin. `taken` gives the bytes that the disk has by now, `computed` the seconds of the thread."""
        self.between = patience / LOOKS  # seconds between two looks
        self._taken = taken
        self._computed = computed
        self._looks = self._idle = 0
        self._before = taken(), computed()

    def begin_anew(self) -> None:
        """Something went on between two looks."""
        self._idle = 0
        self._before = self._taken(), self._computed()

    def look(self) -> None:
        """Look once more, `between` seconds after the last time."""
        taken, computed = self._taken(), self._computed()
        moved = taken != self._before[0] or computed - self._before[1] > self.between / _LEAST_SHARE
        self._before = taken, computed
        self._looks += 1
        self._idle = 0 if moved else self._idle + 1

    @property
    def stalled(self) -> bool:
        """Whether the disk does not answer."""
        return self._idle >= LOOKS

    @property
    def takes_long(self) -> bool:
        """Whether `patience` has passed, with or without what went on."""
        return self._looks >= LOOKS
