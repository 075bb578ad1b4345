"""Things of which a process has one, made when somebody asks for them first, in whatever thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """What `make` makes at the first call; other threads wait meanwhile. What raises is made again.

    A signal handler that asks while its thread makes it gets another one, which is then that of all.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self.__doc__ = make.__doc__
        self._make = make
        self._made: list[T] = []
        self._lock = threading.RLock()
        os.register_at_fork(after_in_child=self._in_child)

    def __call__(self) -> T:
        """What there is one of."""
        if not self._made:
            with self._lock:
                if not self._made:
                    made = self._make()
                    self._made = self._made or [made]
        return self._made[0]

    def cache_clear(self) -> None:
        """Forget it, so that it is made again, as that of a `functools.cache`."""
        self._made = []

    def _in_child(self) -> None:
        self._lock = threading.RLock()  # a thread of the parent may hold the other one for ever
