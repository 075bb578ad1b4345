"""Regular files, opened without waiting; and those in which a person's own things are kept from program to program.

What lies in the place of a file may be anybody's: a pipe, a device and a file of holes are refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# Without O_NONBLOCK an open of a pipe waits until somebody writes into it; a regular file does not care.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_SMALL = 1 << 26  # bytes that may be read whatever the disk holds of them
# A file with holes claims bytes that are nowhere. File systems that compress hardly reach this share of real data.
_LEAST_SHARE = 64
_BLOCK = 512  # bytes in which st_blocks counts


class UnfitFileError(OSError):
    """What lies there is no file that tfdbg reads; the message is the end of a sentence."""


@contextmanager
def opened_plain(path: Path | str, most: int | None = None) -> Iterator[tuple[BinaryIO, int]]:
    """The regular file at `path`, unbuffered, and its size in bytes.

    Raises:
        UnfitFileError: it is a pipe, a device or a folder, it is longer than `most` bytes, or next to nothing of what
            it claims is on the disk.
        OSError: it cannot be opened.

    """
    descriptor = os.open(path, _FLAGS)
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        facts = os.fstat(descriptor)
        size = regular_size(facts, most)
        if size > _SMALL and facts.st_blocks * _BLOCK * _LEAST_SHARE < size:
            raise UnfitFileError(f"of the {size:,} bytes that it claims next to none are there")
        yield file, size


def regular_size(facts: os.stat_result, most: int | None) -> int:
    """The size of the file with these `facts`.

    Raises:
        UnfitFileError: it is no regular file, or longer than `most` bytes.

    """
    if not stat.S_ISREG(facts.st_mode):
        raise UnfitFileError("it is no regular file")
    if most is not None and facts.st_size > most:
        raise UnfitFileError(f"its {facts.st_size:,} bytes are more than such a file has")
    return facts.st_size


def kept_text(path: Path) -> str:
    """The text of a file in which something of the person's is kept. /dev/null in its place keeps nothing.

    Raises:
        FileNotFoundError: there is none.
        UnfitFileError: something else lies there.
        OSError: it cannot be read.
        UnicodeDecodeError: it is no text.

    """
    return kept_bytes(path).decode("utf-8")


def kept_bytes(path: Path) -> bytes:
    """What the file at `path` holds; raises OSError as `kept_text` does."""
    try:
        with opened_plain(path, _SMALL) as (file, size):
            return file.read(size)
    except UnfitFileError:
        if path.samefile(os.devnull):
            return b""
        raise


def replace_kept(path: Path, text: str) -> None:
    """Give such a file another text, whole or not at all; what was there keeps its mode, a new one is private.

    Raises:
        OSError: it cannot be written, or the disk is full.

    """
    path = Path(os.path.realpath(path))  # a link to where the person keeps it stays one
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
        beside.write_text(text, encoding="utf-8")
        beside.chmod(mode)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
