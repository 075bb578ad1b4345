"""The garbage collector while a screen is up: a pass over all objects of a large program keeps a key waiting."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG = 2000  # new objects after which the collector looks at them: half a millisecond
_NEVER = 1 << 30


@contextmanager
def no_full_collection() -> Iterator[None]:
    """Within it only new objects are looked at for garbage: a million tensors take seconds. Then it is as it was."""
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG if before[0] else 0, before[1], _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
