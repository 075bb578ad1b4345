"""What a bundle says of itself in a few thousand bytes, before anything else of it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tfdbg_cli.formats.bundles import layout
from tfdbg_cli.formats.recording.regular_file import read_whole

_LONGEST = 1 << 28
_READ_UNASKED = 1 << 24  # that of tens of thousands of variables: reading it takes less than a tenth of a second


def description(directory: Path, most: int = _LONGEST) -> dict[str, Any] | None:
    """The fields of the bundle in `directory`, of `most` bytes; None where its description is no JSON object.

    Raises:
        OSError: it cannot be read.

    """
    try:
        fields = json.loads(read_whole(directory / layout.REPETITION_DIRECTORY / layout.REPETITION, most))
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def went_bad(directory: Path) -> bool:
    """Whether the bundle says of its run that a number was not finite; False where it cannot be read in a moment."""
    try:
        fields = description(directory, _READ_UNASKED)
    except OSError:
        return False
    return fields is not None and fields.get("first_bad") is not None
