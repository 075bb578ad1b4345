"""The commands given with `-c`."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable


class Script:
    """Commands that are fed, in order, to whichever prompt is open. Several threads may ask for the next."""

    def __init__(self, commands: Iterable[str]) -> None:
        self._left = deque(commands)
        self._lock = threading.Lock()

    def next(self) -> str | None:
        """The next command, or None when they are used up."""
        with self._lock:
            return self._left.popleft() if self._left else None

    @property
    def left(self) -> tuple[str, ...]:
        """The commands that no prompt has taken yet."""
        with self._lock:
            return tuple(self._left)
