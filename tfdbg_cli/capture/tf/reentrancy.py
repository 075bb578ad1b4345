"""What a thread is within: a call that was intercepted already, a run with a name, tfdbg's own work, and the like."""

from __future__ import annotations

import threading
from types import TracebackType


class Inside(threading.local):
    """A context, entered any number of times; `holds` while this thread is within it."""

    def __init__(self) -> None:
        self.depth = 0  # how often it was entered; read as such where even the call of `holds` would be too slow

    def holds(self) -> bool:
        """Whether this thread is within the context."""
        return self.depth > 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.depth -= 1


INSIDE = Inside()  # a call that was intercepted already: what it calls in turn is not intercepted again
NAMED = Inside()  # a Python call that is a run, whose ops are watched as they run: what it calls is part of it
AT_WORK = Inside()  # what tfdbg does before and after a run: what a signal handler runs meanwhile is left alone
MONITORED = Inside()  # a method of a monitored session
LOOKING_AT_DATA = Inside()  # iterators of ours over data of the program: their batches are none of the program's
