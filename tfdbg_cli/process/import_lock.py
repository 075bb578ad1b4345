"""The lock that Python's imports share, where a signal handler has left it taken."""

from __future__ import annotations

import _imp
from contextlib import suppress


def release_left_import_lock() -> None:
    """Give the lock back if this thread holds it, which is not amid an import.

    Python takes it for a few instructions of each import. A handler that raises there, as Ctrl-C does, leaves it
    taken: the thread itself can go on importing, and all others wait for ever.
    """
    with suppress(RuntimeError):  # this thread does not hold it (any more)
        while True:
            _imp.release_lock()
