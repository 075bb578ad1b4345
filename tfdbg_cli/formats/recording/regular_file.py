"""Opening a file of a recording, which may be anybody's, and may stand for one elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from tfdbg_cli.formats.recording.stand_in import ContentSource, StandIn, source_of
from tfdbg_cli.plain_files import opened_plain, regular_size


@contextmanager
def opened(path: Path | str, most: int | None = None) -> Iterator[tuple[BinaryIO, int]]:
    """The regular file at `path`, unbuffered, and its size in bytes.

    Raises:
        UnfitFileError: it is a pipe, a device or a folder, it is longer than `most` bytes, or next to nothing of what
            it claims is on the disk.
        OSError: it cannot be opened.

    """
    source = source_of(path)
    with opened_plain(path, most) if source is None else _standing_in(path, source, most) as found:
        yield found


@contextmanager
def _standing_in(path: Path | str, source: ContentSource, most: int | None) -> Iterator[tuple[BinaryIO, int]]:
    """The same for a file that stands for one elsewhere, and has holes of its own."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with StandIn(os.fspath(path), descriptor, os.fstat(descriptor).st_size, source) as file:
        yield cast(BinaryIO, file), regular_size(os.fstat(descriptor), most)


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
