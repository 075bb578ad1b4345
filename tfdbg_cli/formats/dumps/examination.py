"""What `tfdbg doctor` says of dumps: how many runs, what was noted of them, and what is damaged or missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.case_reader import damaged_sources, noted_in
from tfdbg_cli.formats.dumps.case_tensors import MISSING
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.recording.format import UNCHECKED, Examination, told_of_runs
from tfdbg_cli.formats.recording.traceback_table import told_of_damaged_sources
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Lack, NoValue

_RUNS_LOOKED_AT = 200
_COPY = "What is not damaged is shown. Copy the dump again, or run the program again."
_MOST_TENSORS = 20_000  # whose files are looked at


def examine(directories: Sequence[Path], name: str, notes: Sequence[str] = ()) -> Examination:
    """All that can be said of the dumps in `directories`, which are called `name`; of tensors the headers are read.

    What the program's debugger noted when it saved a run is no damage: such notes are facts, as `notes` are.
    """
    told: dict[str, list[int]] = {}
    troubles: list[tuple[str, str]] = []
    for number, directory in enumerate(directories[:_RUNS_LOOKED_AT], start=1):
        try:
            run, noted = read_dump(directory), noted_in(directory)
        except TfdbgError as error:
            troubles.append((f"Run {number}: {error.message}", error.hint))
            continue
        for note in noted:
            told.setdefault(note, []).append(number)
        troubles += [(f"Run {number}: {note}", "") for note in run.notes if note not in noted]
        wrong = [*_damaged(run), *told_of_damaged_sources(list(damaged_sources(directory)))]
        troubles += [(f"Run {number}: {damage}", _COPY) for damage in wrong]
    count = len(directories)
    of_runs = told_of_runs(told, min(count, _RUNS_LOOKED_AT))
    return Examination(name, (f"{count_text(count, 'run')}.", *notes, *of_runs, UNCHECKED), tuple(troubles))


def _damaged(run: Run) -> Iterator[str]:
    """How many files of tensors are there and cannot be read."""
    store, looked_at = run.tensors, range(min(len(run.tensors), _MOST_TENSORS))
    unknown = ((row, store.value(row)) for row in looked_at if store[row].nbytes is None)
    found = [
        (row, value.text)
        for row, value in unknown
        if isinstance(value, NoValue) and value.lack is Lack.DAMAGED and value != MISSING
    ]
    if found:
        row, why = found[0]
        files = f"{len(found)} of {len(looked_at)} tensor files {'is' if len(found) == 1 else 'are'} damaged"
        yield f"{files} (first {store[row].name}: {why.rstrip('.')})."
