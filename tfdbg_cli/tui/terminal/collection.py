"""The garbage collector while a screen is up: its passes come behind a frame, where no key waits for them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG = 2000  # new objects that are looked at behind a frame: half a millisecond
_PASSES = 4  # over new objects, then those that were left are looked at once more: as long as a slice of other work
_MANY = 10_000, 2  # new objects, and passes, that are not left to the next frame: there may be none for long
_NEVER = 1 << 30


@contextmanager
def no_full_collection() -> Iterator[None]:
    """Within it only new objects are looked at for garbage: a million tensors take seconds. Then it is as it was."""
    before = gc.get_threshold()
    gc.set_threshold(*(_MANY if before[0] else before[:2]), _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def collect_behind_a_frame() -> None:
    """Look for garbage among the objects that are new, where these have become many.

    Left to the collector that came in the midst of every other frame of a long list, and over those that were left
    before, in each tenth of them: as long as the frame itself. A program that does without the collector is obeyed.
    """
    new, passes, _ = gc.get_count()
    if new >= _YOUNG and gc.isenabled() and gc.get_threshold()[0]:
        gc.collect(1 if passes >= _PASSES else 0)
