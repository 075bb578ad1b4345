"""Local stand-ins of remote files: sparse files of the same size, with holes where nothing has been fetched yet.

They are opened by `regular_file` and read like any other file; what is read is fetched first. Only code that maps a
file into memory has to know: it must call `provide` for the parts that it is going to access.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Part = tuple[int, int]
"""A range of bytes in a file: start, and end (exclusive)."""


class ContentSource(Protocol):
    """What fetches the content of stand-ins."""

    def provide(self, path: str, parts: Sequence[Part]) -> None:
        """Fetch these parts of the stand-in at `path`, as far as they are missing. Blocks. Raises OSError."""
        ...

    def missing(self, path: str, parts: Sequence[Part]) -> Sequence[Part]:
        """What has still to be fetched of these parts. Does not block, even while another thread fetches."""
        ...

    def bring_behind(self, path: str, count: int) -> None:
        """Fetch up to `count` small files that are likely to be read after the one at `path`. Raises OSError."""
        ...


class AwaitedError(BaseException):
    """Raised within `beside` when parts of a file have to be fetched first; see `fetching.in_steps`.

    A BaseException, since readers turn any error of a file into a NoValue, but this one has to reach the caller.
    """

    def __init__(self, source: ContentSource, path: str, parts: Sequence[Part]) -> None:
        super().__init__(f"{len(parts)} parts of {path}")
        self.source = source
        self.path = path
        self.parts = parts


class _Waiting(threading.local):
    """Per thread, whether it is within `beside`, and whether it is blocked while parts are fetched."""

    beside = False
    waits = False


_WAITING = _Waiting()


@contextmanager
def beside() -> Iterator[None]:
    """A context in which this thread does not block on remote data: if some are missing, AwaitedError is raised."""
    before, _WAITING.beside = _WAITING.beside, True
    try:
        yield
    finally:
        _WAITING.beside = before


def as_here(work: Callable[P, T]) -> Callable[P, T]:
    """`work` for another thread, such that it runs within `beside` if the present thread does."""
    if not _WAITING.beside:
        return work

    def done(*words: P.args, **named: P.kwargs) -> T:
        with beside():
            return work(*words, **named)

    return done


def is_waiting() -> bool:
    """Whether the present thread is blocked on remote data; for a signal handler that may interrupt it."""
    return _WAITING.waits


def _bring(source: ContentSource, path: str, parts: Sequence[Part]) -> None:
    if _WAITING.beside and (missing := source.missing(path, parts)):
        raise AwaitedError(source, path, missing)
    before, _WAITING.waits = _WAITING.waits, True
    try:
        source.provide(path, parts)
    finally:
        _WAITING.waits = before


_SOURCES: dict[str, ContentSource] = {}  # by the folder, with a slash behind it


def let_stand(folder: Path, source: ContentSource) -> None:
    """Register the files in `folder` as stand-ins, whose content `source` fetches."""
    _SOURCES[f"{folder}{os.sep}"] = source


def source_of(path: Path | str) -> ContentSource | None:
    """The source of the stand-in at `path`; None for an ordinary file."""
    if not _SOURCES:
        return None
    text = os.fspath(path)
    return next((source for folder, source in _SOURCES.items() if text.startswith(folder)), None)


def provide(path: Path | str, *parts: Part) -> None:
    """Fetch these parts of the file at `path` if it is a stand-in. Raises OSError, within `beside` AwaitedError."""
    source = source_of(path)
    if source is not None:
        _bring(source, os.fspath(path), parts)


def descriptor_of(file: BinaryIO | StandIn) -> int:
    """The descriptor of an open file, without fetching anything: the caller has to `provide` what it accesses."""
    return file.descriptor if isinstance(file, StandIn) else file.fileno()


def read_at(file: BinaryIO | StandIn, count: int, offset: int) -> bytes:
    """Read up to `count` bytes of an open file at `offset`; of a stand-in, only these are fetched."""
    if isinstance(file, StandIn):
        file.bring(offset, offset + count)
    return os.pread(descriptor_of(file), count, offset)


class StandIn(io.RawIOBase):
    """An open stand-in of `size` bytes. What is read of it is fetched first.

    `fileno` fetches all of it, since the caller may then read anywhere.
    """

    def __init__(self, path: str, descriptor: int, size: int, source: ContentSource) -> None:
        super().__init__()
        self.descriptor = descriptor
        self._path = path
        self._size = size
        self._source = source
        self._at = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Read from that offset on, which is returned."""
        self._at = max(0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        """The offset of the next byte to be read."""
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Read as many bytes as `buffer` has; how many there were."""
        room = memoryview(buffer).cast("B")
        count = max(0, min(len(room), self._size - self._at))
        if count:
            self.bring(self._at, self._at + count)
            count = os.preadv(self.descriptor, [room[:count]], self._at)
        self._at += count
        return count

    def bring(self, start: int, end: int) -> None:
        """Fetch the bytes from `start` to before `end`, or to the end of the file."""
        if start < (end := min(end, self._size)):
            _bring(self._source, self._path, [(start, end)])

    def fileno(self) -> int:
        """The descriptor, once the whole file has been fetched."""
        _bring(self._source, self._path, [(0, self._size)])
        return self.descriptor

    def close(self) -> None:
        """Read no more."""
        if not self.closed:
            os.close(self.descriptor)
        super().close()
