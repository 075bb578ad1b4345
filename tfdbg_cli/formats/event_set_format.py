"""The format of Debugger V2: a folder of event sets, one for each run of a program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.event_sets.file_names import PREFIX, is_event_file
from tfdbg_cli.formats.recording.format import Examination, Format, NamedPath, RunsOnDisk
from tfdbg_cli.formats.recording.saved_runs import SavedRecording

if TYPE_CHECKING:
    from tfdbg_cli.formats.event_sets.event_set import EventSet


def _is_logdir(place: NamedPath) -> bool:
    return any(is_event_file(name) for name in place.names)


def _open(place: NamedPath) -> RunsOnDisk:
    from tfdbg_cli.formats.event_sets.event_runs import EventRuns  # what reads a format is loaded for it only

    runs = EventRuns(place.path)
    return SavedRecording(runs, _notes(runs.sets))


def _notes(events: Sequence[EventSet]) -> list[str]:
    notes = [note for one in events for note in one.troubles()]
    if len(events) > 1:
        notes.insert(0, f"{len(events)} runs of programs wrote into this folder; they stand one behind the other.")
    if not any(one.spans for one in events):
        notes.append("Nothing was executed, or nothing was written yet: `tfdbg doctor` tells more.")
    else:
        notes.append("`alerts` lists what is not finite, `timeline` what was executed.")
    return notes


def _examine(place: NamedPath) -> Examination:
    from tfdbg_cli.formats.event_sets.examination import examine

    return examine(place)


def _is_part(place: NamedPath) -> TfdbgError | None:
    inside = next((name for name in place.folders if _is_logdir(NamedPath(place.path / name))), None)
    if inside is not None:
        hint = f"Open one of its folders: {_shown(place.path / inside)}."
        return TfdbgError(f"{place.path} holds no event set itself.", hint=hint)
    if place.is_file and place.path.name.startswith(PREFIX):
        hint = f"Open the folder: {_shown(place.path.parent)}."
        return TfdbgError(f"{place.path} is one file of an event set of Debugger V2.", hint=hint)
    return None


def _shown(path: Path) -> str:
    return str(path.resolve())


EVENT_SETS = Format(
    "a log directory of Debugger V2 (it holds tfdbg_events.… files)", _is_logdir, _open, _is_part, _examine
)
