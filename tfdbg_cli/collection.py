"""Python's search for cyclic garbage, put off while tfdbg makes very many objects that stay, and while a key waits.

Each search goes through all objects that live, and making many calls for it again and again: of the time to prepare
a watch of 20 000 ops it took a third. What is garbage meanwhile is found by a search afterwards.
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


class PutOff:
    """A context, entered any number of times, by any threads. Where none was made before, none is afterwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._was_on = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._within:
                self._was_on = gc.isenabled()
                gc.disable()
            self._within += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._within -= 1
            if not self._within and self._was_on:
                gc.enable()


COLLECTION_PUT_OFF = PutOff()


def count_as_old() -> None:
    """Leave the objects that were made so far to full searches, where many are new.

    A run with all its values is a hundred thousand objects that stay: the search among new ones comes before the
    first screen and takes a good part of the time until then. Where the program has objects frozen nothing is done:
    they would be thawed. Python counts them one by one, a tenth of a second for a million, so it is asked last.
    """
    if gc.get_count()[0] >= _WORTH_A_LOOK and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Within it, while a screen is up, garbage is looked for seldom, and among new objects only. Then as it was.

    Left to itself the collector came in the midst of every other frame of a long list, for as long as the frame
    takes, and among a million tensors for seconds. A program that does without it is obeyed.
    """
    before = gc.get_threshold()
    gc.set_threshold(*((_MANY, _PASSES) if before[0] else before[:2]), _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
