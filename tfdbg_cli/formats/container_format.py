"""The formats of recordings that tfdbg writes: that of a program, and what the workers of one job share."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.recording.format import Examination, Format, NamedPath, RunsOnDisk
from tfdbg_cli.model.units import names_text


def _is_recording(place: NamedPath) -> bool:
    return layout.INDEX in place.names and (layout.MANIFEST in place.names or layout.DATA in place.names)


def _holds_recording(folder: Path) -> bool:
    """The same of a folder that is one of many, and is not listed."""
    return (folder / layout.INDEX).is_file() and any((folder / n).exists() for n in (layout.MANIFEST, layout.DATA))


def _open(place: NamedPath) -> RunsOnDisk:
    from tfdbg_cli.formats.container.reader import open_recording  # SQLite is loaded for recordings only

    return open_recording(place.path)


def _examine(place: NamedPath) -> Examination:
    from tfdbg_cli.formats.container.examination import examine

    return examine(place, RECORDING.name)


def _is_part(place: NamedPath) -> TfdbgError | None:
    """What to say of a part of a recording, and of one that lacks what tells where everything lies."""
    if layout.MANIFEST in place.names and layout.DATA in place.names:
        return TfdbgError(
            f"The recording {place.path} lacks its {layout.INDEX}, which says what lies where.",
            hint="Was it copied whole? The values alone are in data/, for readers of safetensors.",
        )
    inside = {layout.INDEX, layout.MANIFEST, layout.DATA}
    for part in (place.path, place.path.parent):
        if part.name in inside and (part.parent / layout.INDEX).is_file():
            return TfdbgError(f"{place.path} is a part of a recording.", hint=f"Open {part.resolve().parent}.")
    return None


def _is_job(place: NamedPath) -> bool:
    return layout.WORKERS in place.names


def _open_job(place: NamedPath) -> RunsOnDisk:
    from tfdbg_cli.formats.jobs.reader import open_job  # what reads a format is loaded for it only

    return open_job(place)


def _examine_job(place: NamedPath) -> Examination:
    from tfdbg_cli.formats.jobs.examination import examine

    return examine(place)


def _is_part_of_job(place: NamedPath) -> TfdbgError | None:
    """What to say of a part of such a folder, and of recordings in a folder that no job shared."""
    if place.is_file and place.path.name == layout.WORKERS:
        hint = f"Open {place.path.resolve().parent}."
        return TfdbgError(f"{place.path} says that the workers of a job recorded beside it.", hint=hint)
    folder = place.path.resolve()
    inside = [folder / name for name in place.folders if _holds_recording(folder / name)]
    if inside:
        return TfdbgError(f"{place.path} holds recordings.", hint=f"Open one: {names_text(inside)}.")
    return None


RECORDING = Format(
    "a recording (a folder with recording.json and index.sqlite)", _is_recording, _open, _is_part, _examine
)
JOB = Format(
    "what the workers of a job recorded (a folder with workers.json)",
    _is_job,
    _open_job,
    _is_part_of_job,
    _examine_job,
)
