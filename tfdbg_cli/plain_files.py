"""Opening regular files without blocking, and reading and replacing the user's own files (settings, queries, ...).

Anyone may have put something else at a path: pipes, devices and large files that are nearly all hole are refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# Without O_NONBLOCK, opening a pipe blocks until someone opens it for writing; regular files ignore the flag.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_SMALL = 1 << 26  # bytes; a file up to this size may be sparse
# A larger file is refused as sparse if less than 1/64 of its size is allocated: compression hardly gets that far.
_LEAST_SHARE = 64
_BLOCK = 512  # bytes in which st_blocks counts


class UnfitFileError(OSError):
    """The path does not lead to a file that tfdbg reads; the message says why, as the end of a sentence."""


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
    """Read a file of the user's (at most 64 MB) as UTF-8; /dev/null in its place reads as an empty text.

    Raises:
        FileNotFoundError: there is none.
        UnfitFileError: it is not a regular file, or too large.
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.

    """
    return kept_bytes(path).decode("utf-8")


def kept_bytes(path: Path) -> bytes:
    """Read the file at `path` as `kept_text` does, without decoding it. Raises OSError in the same cases."""
    try:
        with opened_plain(path, _SMALL) as (file, size):
            return file.read(size)
    except UnfitFileError:
        if path.samefile(os.devnull):
            return b""
        raise


def replace_kept(path: Path, text: str) -> None:
    """Replace the content of a file of the user's by `replace_whole`; a new file gets mode 0600, in a new folder.

    Raises:
        OSError: it cannot be written, or the disk is full.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_whole(path, lambda file: file.write(text.encode("utf-8")), 0o600)


def replace_whole(path: Path, write: Callable[[BinaryIO], object], mode: int = 0o666) -> None:
    """Have `write` write the file at `path` beside it first, so that it is replaced whole or not at all.

    A file that is there keeps its mode, and a symbolic link is followed. A new file gets `mode`, less what the umask
    of the process takes away.

    Raises:
        OSError: it cannot be written, or the disk is full; what was there is then as it was.

    """
    from tfdbg_cli.process.file_limit import file_limit  # most that reads goes without

    path = Path(os.path.realpath(path))
    beside = path.with_name(f".{path.name[:100]}.{os.urandom(4).hex()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with file_limit(), open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            if path.exists():
                os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))
            write(file)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
