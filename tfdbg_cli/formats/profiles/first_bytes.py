"""Whether a file of any name is a profile, by its first bytes."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.formats.messages.wire import BYTES, VARINT, DamagedMessageError, parts
from tfdbg_cli.formats.recording.regular_file import opened

_READ = 256
_PLANE, _ID, _NAME = 1, 1, 2  # of XSpace; of XPlane
_NAMES = (b"/host:", b"/device:", b"Task Environment")


def begins_as_profile(path: Path) -> bool:
    """Whether the file begins with a plane that is called as the profiler calls them; no other message does."""
    try:
        with opened(path) as (file, _):
            data = file.read(_READ)
    except OSError:
        return False
    try:
        plane = next(parts(data), None)
        if plane is None or plane.wire != BYTES or plane.number != _PLANE:
            return False
        for part in parts(data, plane.start, plane.end):
            if part.number == _NAME and part.wire == BYTES:
                return data[part.start : part.end].startswith(_NAMES)
            if part.number != _ID or part.wire != VARINT:
                return False
    except DamagedMessageError:
        pass
    return False
