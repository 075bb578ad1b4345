"""Postponing Python's cyclic garbage collection while tfdbg creates many long-lived objects, or a key press waits.

A collection traverses live objects, and creating many of them triggers one after another: together they took a third
of the time needed to prepare a watch of 20 000 ops. Garbage that arises meanwhile is found by a later collection.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

_MANY = 100_000  # new objects: looking at them takes 25 ms
_WORTH_A_LOOK = 10_000  # new ones that take as long as half a frame of the screen
_PASSES = 10
_NEVER = 1 << 30


class CollectionPutOff:
    """A context that disables the garbage collector; nestable, also across threads. The last exit restores it.

    A signal handler may enter and leave it while its thread is at either: the count tells of all who are within, also
    of one who is about to disable the collector or has just enabled it again. It may raise there, too.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._within = 0
        self._was_on = False

    def __enter__(self) -> None:
        counted = False
        try:
            with self._lock:
                self._within += 1
                counted = True
                if self._within == 1:
                    self._was_on = gc.isenabled()
                    gc.disable()
        except BaseException:  # of a signal handler: nobody is within who would leave
            if counted:
                self._leave()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        with self._lock:
            try:
                if self._within == 1 and self._was_on:
                    gc.enable()
            finally:
                self._within -= 1


COLLECTION_PUT_OFF = CollectionPutOff()


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


@contextmanager
def seldom_collected() -> Iterator[None]:
    """A context in which collections are rare and never full; for the time a screen is up. Restores the thresholds.

    With Python's defaults a collection interrupted every other frame of a long list, for as long as the frame itself
    takes, and for seconds among a million tensors. If the program has disabled collection, it stays disabled.
    """
    before = gc.get_threshold()
    gc.set_threshold(*((_MANY, _PASSES) if before[0] else before[:2]), _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
