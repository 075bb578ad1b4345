"""Saving runs as a recording at a user's wish, and the sentences that say what became of it."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.lost_values import told_of_lost
from tfdbg_cli.formats.container.writer import FullDiskError, RecordingWriter
from tfdbg_cli.formats.recording.writing import DiskRoom
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import nbytes_of
from tfdbg_cli.model.units import bytes_text

_PER_TENSOR = 256  # bytes of its rows


def save_runs(
    runs: Sequence[Run], path: Path, *, compressed: bool = False, disk_budget: int = 0, force: bool = False
) -> tuple[str, ...]:
    """Write `runs` as the recording `path`; sentences that say where it is, and what it lacks.

    Args:
        runs: at least one; of those that cannot be read the recording does without, and says so.
        path: a folder that is empty or not there.
        compressed: whether values are compressed.
        disk_budget: bytes that it may take; 0 for half of what is free.
        force: overrun the budget.

    Raises:
        TfdbgError: there is no room, or it cannot be written; then nothing is left of it.

    """
    room = DiskRoom.at(path, disk_budget)
    values = 0 if force else runs_size(runs)
    room.require(values)
    writer = RecordingWriter(path, compressed=compressed)
    notes: dict[str, None] = {}
    lost: list[tuple[int, Sequence[str], int]] = []
    count = 0
    try:
        for run in _readable(runs, notes):
            written = writer.write(run)
            notes.update(dict.fromkeys(written.notes))
            lost += [(run.call.number, written.lost, written.lacking)] if written.lost else []
            count += 1
            if count == 1 and not force:  # what all runs share, such as the graphs, is known now
                room.require(values + max(0, _written(path) - runs_size([run])))
        writer.close()
    except FullDiskError as error:
        shutil.rmtree(path, ignore_errors=True)
        hint = "Make room, save it on another disk, or one run alone with `save --one`."
        raise TfdbgError(f"The disk is full: {path} was not saved.", hint=hint, exit_code=2) from error
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    size = _written(path)
    told = "The run is" if count == 1 else f"{count:,} runs are"
    where = f"{told} in {path} ({bytes_text(size)}): `tfdbg open {shlex.quote(str(path))}` shows"
    return (f"{where} {'it' if count == 1 else 'them'}.", *told_of_lost(lost), *notes)


def _written(path: Path) -> int:
    """How many bytes the files below `path` hold."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def runs_size(runs: Sequence[Run]) -> int:
    """About how many bytes the values of `runs` and their rows take in a recording."""
    total = 0
    for run in _readable(runs, {}):
        store = run.tensors
        total += sum((store[place].nbytes or 0) + _PER_TENSOR for place in range(len(store)))
        total += sum(nbytes_of(value) for value in run.call.feeds.values() if isinstance(value, np.ndarray))
    return total


def _readable(runs: Sequence[Run], notes: dict[str, None]) -> Iterator[Run]:
    """Those that can be read, one after the other; why others cannot goes into `notes`."""
    for place in range(len(runs)):
        try:
            run = runs[place]
        except TfdbgError as error:
            notes[error.message] = None
        else:
            yield run
