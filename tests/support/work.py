"""Work counted instead of timed, so that a busy machine changes nothing: calls, memory, files, elements read."""

from __future__ import annotations

import sys
import tracemalloc
from collections import UserList
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from types import FrameType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Work:
    """What a block did: `calls` of Python's functions and of those written in C, or bytes of memory at its `peak`.

    Of the file system: the paths that it `opened`, in order, and the folders of which it `listed` what is in them.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.peak = 0
        self.opened: list[str] = []
        self.listed: list[str] = []


@contextmanager
def counted_calls() -> Iterator[Work]:
    """Count the calls that the block makes."""
    work = Work()
    calls = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls  # an attribute would take a third longer, millions of times
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        yield work
    finally:
        sys.setprofile(before)
        work.calls += calls


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


_counting_files: list[Work] = []
_hooked: list[bool] = []  # Python keeps an audit hook for ever, so there is one


def _seen_by_audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _counting_files or not isinstance(arguments[:1] and arguments[0], str | PathLike):
        return
    for work in _counting_files:
        if event == "open":
            work.opened.append(fspath(arguments[0]))
        elif event in ("os.scandir", "os.listdir"):
            work.listed.append(fspath(arguments[0]))


@contextmanager
def counted_files() -> Iterator[Work]:
    """Find which files the block opens, and which folders it lists."""
    if not _counting_files and not _hooked:
        _hooked.append(True)
        sys.addaudithook(_seen_by_audit)
    work = Work()
    _counting_files.append(work)
    try:
        yield work
    finally:
        _counting_files.remove(work)


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
