"""Work counted instead of timed, so that a busy machine changes nothing: calls, memory, elements that are read."""

from __future__ import annotations

import sys
import tracemalloc
from collections import UserList
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Work:
    """What a block did: `calls` of Python's functions and of those written in C, or bytes of memory at its `peak`."""

    def __init__(self) -> None:
        self.calls = 0
        self.peak = 0


@contextmanager
def counted_calls() -> Iterator[Work]:
    """Count the calls that the block makes."""
    work = Work()

    def seen(frame: FrameType, event: str, argument: object) -> None:
        work.calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        yield work
    finally:
        sys.setprofile(before)


@contextmanager
def counted_memory() -> Iterator[Work]:
    """Find how much memory the block takes at once, beyond what there was before; NumPy's arrays count."""
    work = Work()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        yield work
        _, peak = tracemalloc.get_traced_memory()
        work.peak = peak - before
    finally:
        tracemalloc.stop()


def after(times: int) -> Callable[[], bool]:
    """An `enough` that says so when it is asked for the `times`-th time: as far as that work gets, on any machine."""
    asked = iter(range(times - 1))
    return lambda: next(asked, None) is None


class CountedList(UserList[T]):
    """A list that counts how often an item of it is looked at."""

    def __init__(self, items: Iterable[T]) -> None:
        super().__init__(items)
        self.looked_at = 0

    def __getitem__(self, index: Any) -> Any:
        self.looked_at += 1
        return super().__getitem__(index)


class CountedArray(np.ndarray[Any, Any]):
    """An array that counts the elements which its parts hand to functions of NumPy, in `CountedArray.read`."""

    read = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(_counted, inputs), **_plain(options))

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        return function(*map(_counted, inputs), **_plain(options))

    def astype(self, *inputs: Any, **options: Any) -> Any:
        return _counted(self).astype(*inputs, **options)

    def tolist(self) -> Any:
        return _counted(self).tolist()


def _counted(given: Any) -> Any:
    if isinstance(given, list | tuple):
        return type(given)(map(_counted, given))
    if not isinstance(given, CountedArray):
        return given
    CountedArray.read += given.size
    return given.view(np.ndarray)


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    return {name: _counted(given) for name, given in options.items()}
