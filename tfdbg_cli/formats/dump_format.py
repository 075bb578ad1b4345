"""The two formats of dumps of TensorFlow's debugger: one run, and a folder of many."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.layout import is_bundle
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.dumps.case_layout import CASE_DIRECTORY
from tfdbg_cli.formats.dumps.device_names import DEVICE_PREFIX
from tfdbg_cli.formats.dumps.listing import (
    CORE_METADATA_PREFIX,
    FEED_KEYS_PREFIX,
    FETCHES_PREFIX,
    RUN_DIRECTORY,
    run_number,
    tensor_count,
)
from tfdbg_cli.formats.recording.format import Examination, Format, NamedPath, RunsOnDisk
from tfdbg_cli.formats.recording.saved_runs import Glance, SavedRecording, SavedRuns
from tfdbg_cli.formats.recording.stand_in import source_of
from tfdbg_cli.model.runs import Run, RunOutline
from tfdbg_cli.model.units import names_text

_RUN_MARKS = (DEVICE_PREFIX, CORE_METADATA_PREFIX, FETCHES_PREFIX, FEED_KEYS_PREFIX)
_BUNDLE_NAME = "a bundle of tfdbg (a dump directory of one run, with what it takes to make it again)"
_BUNDLE = "This is a bundle: `tfdbg replay {path}` makes the run again."
_FAR_BUNDLE = "This is a bundle: `tfdbg replay` makes the run again, once the folder is copied to this machine."


def _is_run(place: NamedPath) -> bool:
    return _has_marks(place.names)


def _has_marks(names: Sequence[str]) -> bool:
    return any(name.startswith(_RUN_MARKS) for name in names)


def _open_run(place: NamedPath) -> RunsOnDisk:
    runs = SavedRuns([place.path], _read, Glance(tensor_count))
    return SavedRecording(runs, _notes(place), went_bad=is_bundle(place.path) and _went_bad(place.path))


def _went_bad(bundle: Path) -> bool:
    from tfdbg_cli.formats.bundles.description import went_bad  # of nearly all dumps nothing is read here

    return went_bad(bundle)


def _notes(place: NamedPath) -> tuple[str, ...]:
    if not is_bundle(place.path):
        return ()
    return (_FAR_BUNDLE if source_of(place.path) else _BUNDLE.format(path=shlex.quote(str(place.path))),)


def _examine_run(place: NamedPath) -> Examination:
    from tfdbg_cli.formats.bundles.examination import repetition_troubles
    from tfdbg_cli.formats.dumps.examination import examine

    troubles = repetition_troubles(place.path)
    name = _BUNDLE_NAME if is_bundle(place.path) else DUMP.name
    found = examine([place.path], name, () if troubles else _notes(place))
    return replace(found, troubles=(*found.troubles, *troubles))


_MOST_BESIDE, _NAMED = 1_000, 5  # folders that are looked into for recordings, and named


def _read(path: Path) -> Run:
    from tfdbg_cli.formats.dumps.reader import read_dump  # what reads a format is loaded for it only

    return read_dump(path)


def _outline(path: Path, number: int | None) -> RunOutline | None:
    from tfdbg_cli.formats.dumps.case_reader import read_outline

    return read_outline(path, number)


def _holds_runs(place: NamedPath) -> bool:
    return any(RUN_DIRECTORY.fullmatch(name) or _holds_run(place.path / name) for name in _finished(place))


def _open_runs(place: NamedPath) -> RunsOnDisk:
    path = place.path
    glance = Glance[str](
        lambda name: tensor_count(path / name), run_number, lambda name: _outline(path / name, run_number(name))
    )
    runs = SavedRuns(_runs_in(place), lambda name: _read(path / name), glance)
    return SavedRecording(runs, notes=_beside(place))


def _beside(place: NamedPath) -> tuple[str, ...]:
    """A sentence that names recordings that lie beside the runs, which are opened one by one."""
    others = [name for name in place.folders if not RUN_DIRECTORY.fullmatch(name)][:_MOST_BESIDE]
    found = [name for name in others if (place.path / name / layout.INDEX).exists()]
    if not found:
        return ()
    lie = "lies a recording, to be" if len(found) == 1 else "lie recordings, each to be"
    return (f"Beside these runs {lie} opened by itself: {names_text(found, _NAMED)}.",)


def _examine_runs(place: NamedPath) -> Examination:
    from tfdbg_cli.formats.dumps.examination import examine

    found = examine([place.path / name for name in _runs_in(place)], DUMPS.name)
    return replace(found, facts=(*found.facts, *_beside(place)))


def _runs_in(place: NamedPath) -> list[str]:
    """The names of the folders of runs in `place`: numbered ones by number, then others by name.

    There may be a hundred thousand: to make paths of all took longer than to list them.
    """
    numbered: list[tuple[int, int, str]] = []
    others: list[str] = []
    for name in _finished(place):
        match = RUN_DIRECTORY.fullmatch(name)
        if match is not None:
            numbered.append((int(match[2]), int(match[1]), name))
        elif _holds_run(place.path / name):
            others.append(name)
    return [name for _, _, name in sorted(numbered)] + others


def _finished(place: NamedPath) -> list[str]:
    from tfdbg_cli.formats.recording.writing import is_unfinished  # to open a recording nobody needs it

    return [name for name in place.folders if not is_unfinished(name)]


def _holds_run(directory: Path) -> bool:
    try:
        return _has_marks(os.listdir(directory))  # noqa: PTH208
    except OSError:
        return False


def _is_part(place: NamedPath) -> TfdbgError | None:
    """What to say of a part of a dump."""
    path = place.path
    if place.is_file:
        for parent in path.parents:
            if parent.name.startswith(DEVICE_PREFIX):
                hint = f"It is a part of a dump: open {parent.parent}."
                return TfdbgError(f"{path} is a file, not a folder.", hint=hint)
    elif path.name.startswith(DEVICE_PREFIX):
        return TfdbgError(f"{path} is the folder of one device in a dump.", hint=f"Open {path.resolve().parent}.")
    elif path.name == CASE_DIRECTORY:
        return TfdbgError(f"{path} is a part of a dump.", hint=f"Open {path.resolve().parent}.")
    return None


DUMP = Format(
    "a dump directory of TensorFlow's debugger (it holds _tfdbg_device_… folders)",
    _is_run,
    _open_run,
    _is_part,
    _examine_run,
)
DUMPS = Format(
    "a folder of dump directories or bundles (run_<time>_<number>)", _holds_runs, _open_runs, examine=_examine_runs
)
