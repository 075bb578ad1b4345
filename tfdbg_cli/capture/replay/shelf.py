"""Keeps large things that runs of one kind have in common: a few, and more where memory has room for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from tfdbg_cli.capture.budget import room_for_later

T = TypeVar("T")

_FEW = 4  # kept whatever they take
_MOST = 64


class Shelf(Generic[T]):
    """Things by key, those used last. Safe to use from several threads, which may make a thing once each."""

    def __init__(self, nbytes: Callable[[T], int], missed: Callable[[], None] = lambda: None) -> None:
        """`nbytes` tells what a thing takes; `missed` is called when one that gave way is wanted again."""
        self._nbytes = nbytes
        self._missed = missed
        self._lock = threading.Lock()
        self._known: dict[Hashable, T] = {}
        self._gone: set[int] = set()  # the hashes of keys, since the keys themselves may be large

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept for `key`; made by `make` if nothing is. What raises is not kept."""
        with self._lock:
            found = self._known.get(key)
        if found is None:
            if hash(key) in self._gone:
                self._missed()
            found = make()
        with self._lock:
            self._known.pop(key, None)
            self._known[key] = found
            while len(self._known) > _FEW and self._is_full():
                oldest = next(iter(self._known))
                del self._known[oldest]
                self._gone.add(hash(oldest))
        return found

    def _is_full(self) -> bool:
        return len(self._known) > _MOST or sum(map(self._nbytes, self._known.values())) > room_for_later()

    @property
    def kept(self) -> Sequence[T]:
        """The things that are there, the one used last at the end."""
        with self._lock:
            return tuple(self._known.values())
