"""Whether a data file is the one that the index speaks of: its header tells of the same places."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.regular_file import opened

_LENGTH = 8  # bytes that say how long the header is
_MOST = 64 << 20  # bytes of a header that is looked at


def is_of_another(path: Path, offsets: Sequence[int]) -> bool:
    """Whether one of `offsets`, where tensors are to begin, is amid what the header of the file tells of.

    A crash leaves a header that tells of less, or of more: what it does not reach is not judged, nor is one that
    cannot be read.
    """
    places = _places(path)
    if not places:
        return False
    begins, end = {begin for begin, _ in places}, max(end for _, end in places)
    return any(offset < end and offset not in begins for offset in offsets)


def _places(path: Path) -> list[tuple[int, int]]:
    """Where what the header names begins and ends, counted from the start of the file."""
    try:
        with opened(path) as (file, _):
            length = int.from_bytes(file.read(_LENGTH), "little")
            header = json.loads(file.read(length)) if length <= _MOST else {}
    except (OSError, ValueError, RecursionError, TfdbgError):
        return []
    first = _LENGTH + length
    entries = header.values() if isinstance(header, dict) else ()
    pairs = [entry.get("data_offsets") for entry in entries if isinstance(entry, dict)]
    return [
        (first + pair[0], first + pair[1])
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, int) for one in pair)
    ]
