"""Files that stand on this disk for files elsewhere: as long as those, with holes where nothing was read yet.

Whoever opens such a file reads it as any other: what is read is brought first. Nobody but `regular_file` has to know,
unless he maps a file and looks at parts of it: he says by `provide` at which.
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
"""Some bytes of a file: where they begin and where they end."""


class Source(Protocol):
    """Where the content of files comes from that stand for others."""

    def provide(self, path: str, parts: Sequence[Part]) -> None:
        """Have these parts of the file at `path` on the disk. Raises OSError."""
        ...

    def missing(self, path: str, parts: Sequence[Part]) -> Sequence[Part]:
        """What is to be brought for these parts; asked while others are brought, it does not wait."""
        ...

    def bring_behind(self, path: str, count: int) -> None:
        """Have up to `count` small files on the disk that are likely to be read next. Raises OSError."""
        ...


class AwaitedError(BaseException):
    """Parts of a file have to be brought first, by another thread: `beside` was asked for.

    No error of a file that cannot be read, which a reader would make a sentence of: who asked begins anew.
    """

    def __init__(self, source: Source, path: str, parts: Sequence[Part]) -> None:
        super().__init__(f"{len(parts)} parts of {path}")
        self.source = source
        self.path = path
        self.parts = parts


class _Waiting(threading.local):
    """Whether the present thread has what is missing brought by others, and whether it waits for it."""

    beside = False
    waits = False


_WAITING = _Waiting()


@contextmanager
def beside() -> Iterator[None]:
    """Within it nothing is waited for in this thread: what is missing is an `AwaitedError`."""
    before, _WAITING.beside = _WAITING.beside, True
    try:
        yield
    finally:
        _WAITING.beside = before


def as_here(work: Callable[P, T]) -> Callable[P, T]:
    """`work` for another thread to do, which waits for what is missing as the present one does, or as little."""
    if not _WAITING.beside:
        return work

    def done(*words: P.args, **named: P.kwargs) -> T:
        with beside():
            return work(*words, **named)

    return done


def is_waiting() -> bool:
    """Whether the present thread waits for parts of files; asked by who interrupts it."""
    return _WAITING.waits


def _bring(source: Source, path: str, parts: Sequence[Part]) -> None:
    if _WAITING.beside and (missing := source.missing(path, parts)):
        raise AwaitedError(source, path, missing)
    before, _WAITING.waits = _WAITING.waits, True
    try:
        source.provide(path, parts)
    finally:
        _WAITING.waits = before


_SOURCES: dict[str, Source] = {}  # by the folder, with a slash behind it


def let_stand(folder: Path, source: Source) -> None:
    """From now on the files in `folder` stand for others, whose content `source` has."""
    _SOURCES[f"{folder}{os.sep}"] = source


def source_of(path: Path | str) -> Source | None:
    """Where the content of the file at `path` comes from; None for one that is all there."""
    if not _SOURCES:
        return None
    text = os.fspath(path)
    return next((source for folder, source in _SOURCES.items() if text.startswith(folder)), None)


def provide(path: Path | str, *parts: Part) -> None:
    """Have these parts of the file at `path` on the disk, whatever it stands for. Raises OSError."""
    source = source_of(path)
    if source is not None:
        _bring(source, os.fspath(path), parts)


def descriptor_of(file: BinaryIO | StandIn) -> int:
    """The descriptor of an open file, for who says by `provide` at which parts he looks."""
    return file.descriptor if isinstance(file, StandIn) else file.fileno()


def read_at(file: BinaryIO | StandIn, count: int, offset: int) -> bytes:
    """Up to `count` bytes of an open file at `offset`, whatever it stands for: no more is brought."""
    if isinstance(file, StandIn):
        file.bring(offset, offset + count)
    return os.pread(descriptor_of(file), count, offset)


class StandIn(io.RawIOBase):
    """An open file of `size` bytes that stands for one elsewhere. What is read of it is brought first.

    Who asks for its `fileno` may read anywhere: then all of it is.
    """

    def __init__(self, path: str, descriptor: int, size: int, source: Source) -> None:
        super().__init__()
        self.descriptor = descriptor
        self._path = path
        self._size = size
        self._source = source
        self._at = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Read from there on."""
        self._at = max(0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        """Where is read next."""
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
        """Have what lies between `start` and `end` on the disk, as far as the file goes."""
        if start < (end := min(end, self._size)):
            _bring(self._source, self._path, [(start, end)])

    def fileno(self) -> int:
        """The descriptor, under which all is there."""
        _bring(self._source, self._path, [(0, self._size)])
        return self.descriptor

    def close(self) -> None:
        """Read no more."""
        if not self.closed:
            os.close(self.descriptor)
        super().close()
