"""Opening a file of a recording, which may be anybody's: a pipe, a device and a file of holes are refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from tfdbg_cli.formats.recording.stand_in import Source, StandIn, source_of

# Without O_NONBLOCK an open of a pipe waits until somebody writes into it; a regular file does not care.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_SMALL = 1 << 26  # bytes that may be read whatever the disk holds of them
# A file with holes claims bytes that are nowhere. File systems that compress hardly reach this share of real data.
_LEAST_SHARE = 64
_BLOCK = 512  # bytes in which st_blocks counts


class UnfitFileError(OSError):
    """What lies there is no file that tfdbg reads; the message is the end of a sentence."""


@contextmanager
def opened(path: Path | str, most: int | None = None) -> Iterator[tuple[BinaryIO, int]]:
    """The regular file at `path`, unbuffered, and its size in bytes.

    Raises:
        UnfitFileError: it is a pipe, a device or a folder, it is longer than `most` bytes, or next to nothing of what
            it claims is on the disk.
        OSError: it cannot be opened.

    """
    source = source_of(path)
    if source is not None:
        with _standing_in(path, source, most) as (stand_in, size):
            yield stand_in, size
        return
    descriptor = os.open(path, _FLAGS)
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        yield file, _checked_size(descriptor, most)


@contextmanager
def _standing_in(path: Path | str, source: Source, most: int | None) -> Iterator[tuple[BinaryIO, int]]:
    """The same for a file that stands for one elsewhere, and has holes of its own."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with StandIn(os.fspath(path), descriptor, os.fstat(descriptor).st_size, source) as file:
        yield cast(BinaryIO, file), _regular(os.fstat(descriptor), most)


def _regular(facts: os.stat_result, most: int | None) -> int:
    if not stat.S_ISREG(facts.st_mode):
        raise UnfitFileError("it is no regular file")
    if most is not None and facts.st_size > most:
        raise UnfitFileError(f"its {facts.st_size:,} bytes are more than such a file has")
    return facts.st_size


def _checked_size(descriptor: int, most: int | None) -> int:
    facts = os.fstat(descriptor)
    _regular(facts, most)
    if facts.st_size > _SMALL and facts.st_blocks * _BLOCK * _LEAST_SHARE < facts.st_size:
        raise UnfitFileError(f"of the {facts.st_size:,} bytes that it claims next to none are there")
    return facts.st_size


def read_whole(path: Path | str, most: int) -> bytes:
    """The content of the file at `path`, which may be `most` bytes long.

    Raises:
        UnfitFileError: as `opened`.
        OSError: it cannot be read.

    """
    with opened(path, most) as (file, size):
        parts: list[bytes] = []
        while size > 0 and (part := file.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
