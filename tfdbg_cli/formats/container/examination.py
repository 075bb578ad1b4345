"""What `tfdbg doctor` says of a recording: its runs, and what is damaged of the index or missing of the values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container.file_troubles import trouble_of
from tfdbg_cli.formats.container.reader import COPY_MANIFEST, RecordingReader, no_run_advice
from tfdbg_cli.formats.container.recorded_sources import RecordedSources
from tfdbg_cli.formats.container.row_places import misplaced
from tfdbg_cli.formats.recording.format import UNCHECKED, Examination, NamedPath, told_of_runs
from tfdbg_cli.formats.recording.traceback_table import told_of_damaged_sources
from tfdbg_cli.model.units import count_text

_RUNS_LOOKED_AT = 200
_LOST = "It is in no file here: look at what was saved, copy that again if it was no whole copy, and save it anew."
_COPY_INDEX = "Copy index.sqlite again. What a command cannot read of it, it says."
_NO_HEADER = "tfdbg reads them by its index; other tools cannot, or read something else. Copy the file again."
_OUTSIDE = "The index is damaged there: copy index.sqlite again. These have no values."


def examine(place: NamedPath, name: str) -> Examination:
    """All that can be said of the recording in `place`, which is called `name`; no elements of tensors are read."""
    try:
        reader = RecordingReader(place.path)
        numbers = [number for number, _ in reader.written()]
    except TfdbgError as error:
        return Examination(name, (), ((error.message, error.hint),))
    troubles = [(note, COPY_MANIFEST) for note in reader.notes]
    if not numbers:
        text = f"No run of the recording {place.path} was finished."
        return Examination(name, (), (*troubles, (text, no_run_advice(place.path))))
    told: dict[str, list[int]] = {}
    lost: dict[str, list[int]] = {}
    sources: dict[str, None] = {}  # those that are damaged; runs have them in common
    for number in numbers[:_RUNS_LOOKED_AT]:
        try:
            run, damages = reader.examined(number)
            noted = reader.noted(number)
        except TfdbgError as error:
            troubles.append((error.message, error.hint))
            continue
        for note in noted:
            told.setdefault(note, []).append(number)
        for sentence in run.lost:
            lost.setdefault(sentence, []).append(number)
        troubles += [(f"Run {number}: {damage}", _COPY_INDEX) for damage in damages]
        if isinstance(run.sources, RecordedSources):
            sources.update(dict.fromkeys(run.sources.damaged()))
    troubles += [(sentence, _LOST) for sentence in told_of_runs(lost, len(numbers))]
    troubles += [(damage, _COPY_INDEX) for damage in told_of_damaged_sources(list(sources))]
    of_runs = told_of_runs(told, len(numbers[:_RUNS_LOOKED_AT]))
    facts = (f"{count_text(len(numbers), 'run')}.", *of_runs, UNCHECKED)
    damage = reader.checked_index()
    if damage:
        troubles.append((f"{place.path / layout.INDEX}: {damage}", _COPY_INDEX))
    return Examination(name, facts, (*troubles, *_data_files(place, reader)))


def _data_files(place: NamedPath, reader: RecordingReader) -> list[tuple[str, str]]:
    """The data files that are missing, end before what was written into them does, or are of another recording."""
    found: list[tuple[str, str]] = []
    try:
        files = reader.data_files()
    except TfdbgError:
        return found  # the index is damaged where it tells of them
    sizes: dict[int, int] = {}
    for number, size, runs in files:
        path = layout.data_file(place.path, number)
        name = path.relative_to(place.path)
        holds = f"values of {count_text(runs, 'run')} lie in it"
        trouble = trouble_of(place.path, number, size, foreign=reader.own_files.is_foreign(number))
        if trouble is not None:
            found.append((f"{trouble.text}; {holds}.", trouble.hint))
            sizes[number] = max(_length(path), size)  # what is said of its rows is said of what it was
            continue
        sizes[number] = max(_length(path), size)
        if not reader.own_files.has_whole_header(number):
            found.append((f"The header of the file {name} is damaged; {holds}.", _NO_HEADER))
    return [*found, *_rows(reader, sizes)]


def _rows(reader: RecordingReader, sizes: Mapping[int, int]) -> list[tuple[str, str]]:
    """The tensors that are to lie where there is nothing; nothing where the index is damaged there."""
    try:
        return [(sentence, _OUTSIDE) for sentence in misplaced(reader, sizes)]
    except TfdbgError:
        return []


def _length(path: Path) -> int:
    """How many bytes the file has; none where it has gone meanwhile, as a run that gave way to newer ones."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
