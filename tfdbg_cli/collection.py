"""Postponing Python's cyclic garbage collection while tfdbg creates many long-lived objects, or a key press waits.

A collection traverses live objects, and creating many of them triggers one after another: together they took a third
of the time needed to prepare a watch of 20 000 ops. Garbage that arises meanwhile is found by a later collection.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

_MANY = 100_000  # new objects: looking at them takes 25 ms
_WORTH_A_LOOK = 10_000  # new ones that take as long as half a frame of the screen
_PASSES = 10
_NEVER = 1 << 30
_NO_TIME_SOON = _NEVER - 7  # new objects; no program sets this number itself
Thresholds: TypeAlias = tuple[int, int, int]


class Collector:
    """Python's collector as tfdbg sets it: by its thresholds alone, so that the program's switch is the program's.

    A program that calls `gc.disable` or asks `gc.isenabled` while tfdbg is at work, in this thread or another, finds
    and leaves the switch as without tfdbg. Thresholds that it sets meanwhile are those that hold in the end.

    A signal handler may enter and leave a context of it while its thread is at either, and may raise there: the
    counts tell of all who are within.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._off = self._seldom = 0  # how many are within the two contexts
        self._programs: Thresholds = gc.get_threshold()
        self._ours: Thresholds | None = None  # those that we have set; None while nobody is within

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """A context in which there are no collections; nestable, also across threads."""
        with self._within(off=1):
            yield

    @contextmanager
    def seldom(self) -> Iterator[None]:
        """A context in which collections are rare and never full; for the time a screen is up.

        With Python's defaults a collection interrupted every other frame of a long list, for as long as the frame
        itself takes, and for seconds among a million tensors.
        """
        with self._within(seldom=1):
            yield

    @contextmanager
    def _within(self, *, off: int = 0, seldom: int = 0) -> Iterator[None]:
        counted = False
        try:
            with self._lock:
                self._off, self._seldom = self._off + off, self._seldom + seldom
                counted = True
                self._set()
            yield
        finally:
            with self._lock:
                try:
                    if counted:  # else a signal handler raised before
                        self._off, self._seldom = self._off - off, self._seldom - seldom
                    counted = False
                    self._set()
                except BaseException:  # of a signal handler
                    if counted:
                        self._off, self._seldom = self._off - off, self._seldom - seldom
                    self._set()
                    raise

    def _set(self) -> None:
        """Set the thresholds for those who are within."""
        ours = self._ours  # asked for first: a signal handler may run behind the next call, and enter and leave
        now = gc.get_threshold()
        if ours is None or now != ours:
            self._programs = now
        wanted = self._programs
        if wanted[0] and self._off:
            wanted = (_NO_TIME_SOON, *wanted[1:])
        elif self._seldom:
            wanted = (*((_MANY, _PASSES) if wanted[0] else wanted[:2]), _NEVER)
        self._ours = wanted if self._off or self._seldom else None
        gc.set_threshold(*wanted)


COLLECTOR = Collector()


class FrozenObjects:
    """Whether the program has frozen objects. Counting them takes 0.1 s for a million, so that ends then."""

    def __init__(self) -> None:
        self._seen = False

    def are_there(self) -> bool:
        """Whether there are any, or were when this was asked before."""
        self._seen = self._seen or gc.get_freeze_count() > 0
        return self._seen


_FROZEN = FrozenObjects()


def count_as_old() -> None:
    """Move all objects to the oldest generation, so that only full collections traverse them, if many are new.

    A run with all its values is a hundred thousand long-lived objects; collecting the young generation would delay
    the first screen noticeably. Does nothing if the program has ever been seen to have frozen objects, since
    `gc.unfreeze` would thaw those, too.
    """
    if gc.get_count()[0] >= _WORTH_A_LOOK and not _FROZEN.are_there():
        gc.freeze()
        gc.unfreeze()


def collect_circles() -> None:
    """Free at once what refers to itself and nothing else refers to, unless the program has disabled collection.

    What was counted as old would wait for a full collection, which may never come.
    """
    if gc.isenabled():
        gc.collect()
