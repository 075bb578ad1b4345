"""The format of recordings that tfdbg writes."""

from __future__ import annotations

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.recording.format import Format, Place, Recording


def _is_recording(place: Place) -> bool:
    return layout.INDEX in place.names and (layout.MANIFEST in place.names or layout.DATA in place.names)


def _open(place: Place) -> Recording:
    from tfdbg_cli.formats.container.reader import open_recording  # SQLite is loaded for recordings only

    return open_recording(place.path)


def _is_part(place: Place) -> TfdbgError | None:
    """What to say of a part of a recording."""
    inside = {layout.INDEX, layout.MANIFEST, layout.DATA}
    for part in (place.path, place.path.parent):
        if part.name in inside and (part.parent / layout.INDEX).is_file():
            return TfdbgError(f"{place.path} is a part of a recording.", hint=f"Open {part.resolve().parent}.")
    return None


RECORDING = Format("a recording (a folder with recording.json and index.sqlite)", _is_recording, _open, _is_part)
