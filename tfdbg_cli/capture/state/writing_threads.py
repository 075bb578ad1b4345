"""Whether another thread of the program may have written variables meanwhile: by a function, or in eager code.

A call that is made once more from the state before it is compared with the program's call. What another thread wrote
in between is no difference between the two, and to put variables back would take it from the program.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WritesBegun:
    """What other threads had begun to write by then: how often, by thread, and whether one was at it."""

    begun: Mapping[int, int]
    busy: bool


class WritingThreads:
    """Counts what each thread begins that may write variables. While variables are put right no call begins."""

    def __init__(self) -> None:
        self._gate = threading.RLock()
        self._begun: dict[int, int] = {}
        self._under_way: dict[int, int] = {}

    def begin(self) -> None:
        """Note that the calling thread calls a function, until it calls `end`."""
        here = threading.get_ident()
        with self._gate:
            self._begun[here] = self._begun.get(here, 0) + 1
            self._under_way[here] = self._under_way.get(here, 0) + 1

    def end(self) -> None:
        """Note that the last call that the calling thread began is over."""
        self._under_way[threading.get_ident()] -= 1

    def wrote(self) -> None:
        """Note that the calling thread has written a variable."""
        here = threading.get_ident()
        self._begun[here] = self._begun.get(here, 0) + 1

    def now(self) -> WritesBegun:
        """What threads other than this one have begun by now."""
        here = threading.get_ident()
        busy = any(count for thread, count in self._under_way.copy().items() if thread != here)
        return WritesBegun({thread: count for thread, count in self._begun.copy().items() if thread != here}, busy)

    def quiet_since(self, moment: WritesBegun) -> bool:
        """Whether no other thread than this one may have written anything since `moment`, which it asked for."""
        now = self.now()
        return not moment.busy and now == moment

    @contextmanager
    def halted_since(self, moment: WritesBegun) -> Iterator[bool]:
        """A context in which calls that other threads begin wait, so that variables can be put right.

        Gives whether none may have written anything since `moment`. What eager code of other threads writes is noted
        behind it, so of that what is being written at this instant is not seen.
        """
        with self._gate:
            yield self.quiet_since(moment)


WRITING_THREADS = WritingThreads()
