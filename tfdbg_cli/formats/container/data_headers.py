"""The headers of data files: whether there is one, and whether it tells of the places that the index speaks of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.regular_file import opened

_LENGTH = 8  # bytes that say how long the header is
_MOST = 64 << 20  # bytes of a header that is looked at


def is_of_another(path: Path, offsets: Sequence[int]) -> bool:
    """Whether one of `offsets`, where tensors are to begin, is amid what the header of the file tells of.

    A crash leaves a header that tells of less, or of more: what it does not reach is not judged, nor is one that
    cannot be read.
    """
    header = _header(path)
    places = list(_places(*header)) if header is not None else []
    if not places:
        return False
    begins, end = {begin for begin, _ in places}, max(end for _, end in places)
    return any(offset < end and offset not in begins for offset in offsets)


def has_header(path: Path) -> bool:
    """Whether the file begins with a header of safetensors; one that is too long to be looked at counts as such."""
    return _header(path) is not None


def _header(path: Path) -> tuple[int, Mapping[str, Any]] | None:
    """How long the header is, and what it says; nothing of a very long one. None where it cannot be read.

    A very long one lies in the file, and looks like a header where it begins and ends: else its length is damaged.
    """
    try:
        with opened(path) as (file, size):
            length = int.from_bytes(file.read(_LENGTH), "little")
            if length > _MOST and not (_LENGTH + length <= size and _seems_one(file, length)):
                return None
            header = json.loads(file.read(length)) if length <= _MOST else {}
    except (OSError, ValueError, RecursionError, TfdbgError):
        return None
    return (length, header) if isinstance(header, dict) else None


def _seems_one(file: BinaryIO, length: int) -> bool:
    """Whether the `length` bytes behind the first ones begin and end as a header does."""
    first = file.read(1)
    file.seek(_LENGTH + length - 1)
    return first == b"{" and file.read(1) in {b"}", b" "}


def _places(length: int, header: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Where what the header names begins and ends, counted from the start of the file."""
    first = _LENGTH + length
    pairs = [entry.get("data_offsets") for entry in header.values() if isinstance(entry, dict)]
    for pair in pairs:
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, int) for one in pair):
            yield first + pair[0], first + pair[1]
