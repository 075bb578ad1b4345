"""What `tfdbg doctor` says of dumps: how many runs, what was noted of them, and what is damaged or missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.case_reader import noted_in
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.recording.format import Examination

_RUNS_LOOKED_AT = 200


def examine(directories: Sequence[Path], name: str, notes: Sequence[str] = ()) -> Examination:
    """All that can be said of the dumps in `directories`, which are called `name`; no elements of tensors are read.

    What the program's debugger noted when it saved a run is no damage: such notes are facts, as `notes` are.
    """
    told: dict[str, None] = dict.fromkeys(notes)
    troubles: list[tuple[str, str]] = []
    for number, directory in enumerate(directories[:_RUNS_LOOKED_AT], start=1):
        try:
            run, noted = read_dump(directory), noted_in(directory)
        except TfdbgError as error:
            troubles.append((f"Run {number}: {error.message}", error.hint))
            continue
        told |= dict.fromkeys(noted)
        troubles += [(f"Run {number}: {note}", "") for note in run.notes if note not in noted]
    count = len(directories)
    return Examination(name, (f"{count:,} run{'s' * (count != 1)}.", *told), tuple(troubles))
