"""Opening what a user names, in whichever format it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_cli.errors import NothingYetError, TfdbgError
from tfdbg_cli.formats.checkpoint_format import CHECKPOINTS, lacking_checkpoint
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container_format import JOB, RECORDING
from tfdbg_cli.formats.dump_format import DUMP, DUMPS
from tfdbg_cli.formats.event_set_format import EVENT_SETS
from tfdbg_cli.formats.graph_file_format import GRAPH_FILES, SAVED_MODELS
from tfdbg_cli.formats.profile_format import PROFILES, note_beside
from tfdbg_cli.formats.recording.format import Format, NamedPath
from tfdbg_cli.model.runs import Growing, Opened

if TYPE_CHECKING:
    from tfdbg_cli.formats.remote.far_place import FarPlace

FORMATS: tuple[Format, ...] = (
    RECORDING, JOB, DUMP, DUMPS, EVENT_SETS, SAVED_MODELS, CHECKPOINTS, PROFILES, GRAPH_FILES,
)  # fmt: skip
"""The formats, in the order in which they are asked."""


def open_path(path: Path | str) -> Opened:
    """The recording at `path`, which may be an address, by the first of `FORMATS` that recognizes it.

    Runs are read when they are looked at.

    Raises:
        TfdbgError: there is nothing there, or nothing that tfdbg can open; the hint says what it opens.

    """
    if "\0" in str(path):
        raise TfdbgError(f"No path can be called {str(path)!r}.")
    if _is_address(path):
        far = far_place_at(str(path))
        with far.telling():
            return far.opened(_opened(named_place(far.path)))
    return _opened(named_place(path))


def _opened(place: NamedPath) -> Opened:
    for known in FORMATS:
        if known.recognizes(place):
            recording = known.open(place)
            beside = "" if known is PROFILES else note_beside(place)
            return Opened(
                str(place.path),
                recording.runs,
                notes=(*recording.notes, beside) if beside else recording.notes,
                noun=known.noun,
                workers=recording.workers,
                went_bad=recording.went_bad,
            )
    raise next(filter(None, (known.mistaken(place) for known in FORMATS)), None) or _foreign(place)


def open_followed(path: Path | str) -> Opened:
    """The recording at `path`, which may still be written: `Opened.growing` looks for new runs.

    Raises:
        NothingYetError: there is no run yet.
        TfdbgError: what is there cannot be opened, or nobody adds runs to such a thing.

    """
    if _is_address(path):
        raise TfdbgError(f"New runs at {path} are not followed.", hint="Open it again to see what is new.")
    place = NamedPath(Path(path).expanduser())
    if place.is_missing or (not place.is_file and all(map(_precedes_manifest, place.names))):
        raise NothingYetError(f"There is no run in {place.path} yet.", hint="Does the program record there?")
    opened = open_path(path)
    if not isinstance(opened.runs, Growing):
        hint = "Recordings (`tfdbg run --record`) and log directories of Debugger V2 do."
        raise TfdbgError(f"Nobody adds runs to what {place.path} is.", hint=hint)
    if not opened.runs:
        raise NothingYetError(f"There is no run in {place.path} yet.", hint="Does the program run?")
    return replace(opened, growing=opened.runs)


def _precedes_manifest(name: str) -> bool:
    """Whether a file or folder of this name may be there before the manifest of a recording that is being made."""
    return name == layout.DATA or name.startswith((layout.INDEX, f"{layout.MANIFEST}.partial-"))


def _is_address(path: Path | str) -> bool:
    if "://" not in str(path):
        return False
    from tfdbg_cli.formats.recording.addresses import is_address  # nearly everybody names a path

    return is_address(str(path))


def far_place_at(address: str) -> FarPlace:
    """What is at `address`, in another file system. Raises TfdbgError."""
    from tfdbg_cli.formats.remote.far_place import far_place  # nobody else needs fsspec

    return far_place(address)


def named_place(path: Path | str) -> NamedPath:
    """What a user named; a checkpoint may be named as TensorFlow does, without the ending of any file.

    Raises:
        TfdbgError: there is nothing there, or it may not be read.

    """
    if not str(path).strip():  # which Python takes for the folder that one is in
        raise TfdbgError("The path is empty.", hint="Name a file or a folder.")
    place = NamedPath(Path(path).expanduser())
    if place.is_missing and place.path.name:
        from tfdbg_cli.formats.checkpoints.file_names import ENDING  # what reads a format is loaded for it only

        index = place.path.with_name(place.path.name + ENDING)
        if index.is_file():
            return NamedPath(index)
        if (lacking := lacking_checkpoint(place.path)) is not None:
            raise lacking
    place.require_readable()
    return place


def _foreign(place: NamedPath) -> TfdbgError:
    path, what_opens = place.path, f"tfdbg opens {' or '.join(known.name for known in FORMATS)}."
    if place.is_file:
        from tfdbg_cli.formats.recording.unreadable import is_empty  # what is opened needs it not

        why = ": it is empty" if is_empty(path) else ""
        return TfdbgError(f"{path} is a file of no format that tfdbg knows{why}.", hint=what_opens)
    if not place.names:
        return TfdbgError(f"The folder {path} is empty.", hint=what_opens)
    return TfdbgError(f"The folder {path} holds no runs of TensorFlow's debugger.", hint=what_opens)
