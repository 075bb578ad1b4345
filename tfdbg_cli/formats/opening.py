"""Opening what a person names, in whichever format it is."""

from __future__ import annotations

from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.checkpoint_format import CHECKPOINTS
from tfdbg_cli.formats.container_format import RECORDING
from tfdbg_cli.formats.dump_format import DUMP, DUMPS
from tfdbg_cli.formats.event_set_format import EVENT_SETS
from tfdbg_cli.formats.graph_file_format import GRAPH_FILES, SAVED_MODELS
from tfdbg_cli.formats.recording.format import Format, Place
from tfdbg_cli.model.runs import Opened

FORMATS: tuple[Format, ...] = (RECORDING, DUMP, DUMPS, EVENT_SETS, SAVED_MODELS, CHECKPOINTS, GRAPH_FILES)
"""The formats, in the order in which they are asked."""


def open_path(path: Path | str) -> Opened:
    """The recording at `path`, by the first of `FORMATS` that recognizes it.

    Runs are read when they are looked at.

    Raises:
        TfdbgError: there is nothing there, or nothing that tfdbg can open; the hint says what it opens.

    """
    place = named_place(path)
    for known in FORMATS:
        if known.recognizes(place):
            recording = known.open(place)
            return Opened(str(place.path), recording.runs, notes=tuple(recording.notes), noun=known.noun)
    raise next(filter(None, (known.mistaken(place) for known in FORMATS)), None) or _foreign(place)


def named_place(path: Path | str) -> Place:
    """What a person named; a checkpoint may be named as TensorFlow does, without the ending of any file.

    Raises:
        TfdbgError: there is nothing there, or it may not be read.

    """
    place = Place(Path(path).expanduser())
    if place.is_missing and place.path.name:
        from tfdbg_cli.formats.checkpoints.file_names import ENDING  # what reads a format is loaded for it only

        index = place.path.with_name(place.path.name + ENDING)
        if index.is_file():
            return Place(index)
    place.require_readable()
    return place


def _foreign(place: Place) -> TfdbgError:
    path, what_opens = place.path, f"tfdbg opens {' or '.join(known.name for known in FORMATS)}."
    if place.is_file:
        return TfdbgError(f"{path} is a file of no format that tfdbg knows.", hint=what_opens)
    if not place.names:
        return TfdbgError(f"The folder {path} is empty.", hint=what_opens)
    return TfdbgError(f"The folder {path} holds no runs of TensorFlow's debugger.", hint=what_opens)
