"""The one place for somebody who is attached, and the debuggers that are to stop for them."""

from __future__ import annotations

import threading
from typing import Protocol
from weakref import WeakSet

from tfdbg_cli.remote.visitor import Visitor


class StoppableDebugger(Protocol):
    """A debugger that can be asked, from any thread, to stop before the next run."""

    def call(self) -> None:
        """Stop before the next run."""
        ...


class Seat:
    """Who is attached. `lock` is held for moments, and by whoever forks, so that no child finds it locked.

    `waits` says that the program stays at what its watch found until somebody has decided, `standing` that it does so
    now; `how` tells people the command that attaches.
    """

    def __init__(self, *, waits: bool = False) -> None:
        self.visitor: Visitor | None = None
        self.waits = waits
        self.standing = False
        self.how = ""
        self.lock = threading.RLock()
        self._taken = threading.Condition(self.lock)
        self._debuggers: WeakSet[StoppableDebugger] = WeakSet()

    def take(self, visitor: Visitor) -> bool:
        """Give `visitor` the seat, and have every debugger stop before its next run; False if somebody has it."""
        with self.lock:
            if self.visitor is not None:
                return False
            self.visitor = visitor
            self.call()
            self._taken.notify_all()
            return True

    def awaited(self) -> Visitor:
        """Who is attached; waits until somebody is."""
        with self._taken:
            while self.visitor is None or self.visitor.gone:
                self._taken.wait()
            return self.visitor

    def free(self) -> None:
        """Have nobody attached."""
        with self.lock:
            self.visitor = None

    def register(self, debugger: StoppableDebugger) -> None:
        """Have `debugger` stop for whoever is attached now, or comes later."""
        with self.lock:
            self._debuggers.add(debugger)
            if self.visitor is not None:
                debugger.call()

    def call(self) -> None:
        """Have every debugger stop before its next run."""
        with self.lock:
            for debugger in self._debuggers:
                debugger.call()
