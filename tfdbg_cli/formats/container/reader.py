"""Opening a recording. Whatever is damaged costs that, with a sentence, and nothing else."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdbg_cli.errors import WRONG_CONTENT, NothingYetError, TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container.data_headers import OwnFiles
from tfdbg_cli.formats.container.index import COPY_INDEX, DamagedIndexError, Index
from tfdbg_cli.formats.container.recorded_sources import RecordedSources
from tfdbg_cli.formats.container.store import RecordedTensors
from tfdbg_cli.formats.container.stored import StoredElements
from tfdbg_cli.formats.container.texts import shape_of
from tfdbg_cli.formats.messages.graph_def import graph_from_parts
from tfdbg_cli.formats.messages.tensor_proto import damaged
from tfdbg_cli.formats.recording.call_fields import read_call, read_error, read_exactness, read_profile
from tfdbg_cli.formats.recording.json_fields import flag, items, text, texts, whole
from tfdbg_cli.formats.recording.regular_file import read_whole
from tfdbg_cli.formats.recording.saved_runs import GrowingRuns, SavedRecording
from tfdbg_cli.formats.recording.traceback_table import read_tracebacks
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import LostTracebacks, Traceback
from tfdbg_cli.model.units import count_text

if TYPE_CHECKING:
    from tfdbg_cli.formats.container.file_troubles import FileTrouble
    from tfdbg_cli.model.variables import ToldVariables

_LONGEST_MANIFEST = 1 << 20
_OTHERS = "Other runs may be whole. Copy index.sqlite again; `tfdbg doctor` says what is damaged."
COPY_MANIFEST = "The runs can be looked at without it; copy it again."
"""What to do about the note of a reader."""
_PROGRAMS = 8  # whose graphs are kept


def no_run_advice(*roots: Path) -> str:
    """What to do where nothing is in the recordings in `roots`, which may still be written."""
    from tfdbg_cli.formats.recording.writer_lock import is_being_written  # most recordings hold runs

    goes_on = any(is_being_written(root / layout.MANIFEST) is not False for root in roots)
    until = "Let the program go on" if goes_on else "The program has ended: record it again,"
    return (
        f"{until} until a run has ended; with --every N one run in N is recorded, and a full disk, or a --budget"
        " smaller than one run, keeps none: make room, record elsewhere, or less with --only."
    )


def open_recording(root: Path) -> SavedRecording:
    """The recording in `root`; its runs are read when they are looked at.

    Raises:
        TfdbgError: it is of another format, its index cannot be read, or there is no run in it.

    """
    reader = RecordingReader(root)
    runs = [number for number, _ in reader.written()]
    if not runs:
        raise NothingYetError(f"No run of the recording {root} was finished.", hint=no_run_advice(root))
    news = News(root, runs[-1])
    notes = (*(f"{note} {COPY_MANIFEST}" for note in reader.notes), *told_of_files(reader))
    growing = GrowingRuns(runs, reader.run, lambda: [number for number, _ in news.read()], holds_made=True)
    return SavedRecording(growing, notes)


def told_of_files(reader: RecordingReader) -> Iterator[str]:
    """Sentences on each data file that is not there, or not whole, as where a copy was not finished."""
    try:
        for trouble, runs in reader.unreadable_files():
            yield f"{trouble.text}; values of {count_text(runs, 'run')} {trouble.behind}. {trouble.hint}"
    except TfdbgError:
        return  # what is read of such an index says so


def _is_whole(path: Path, size: int) -> bool:
    """Whether the file is there, with no less than the `size` bytes that were written into it."""
    try:
        facts = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size >= size


class News:
    """The runs that are written into the recording in `root` behind the run `last`.

    It asks by a connection of its own, so that nobody waits for it who reads what is there.
    """

    def __init__(self, root: Path, last: int = 0) -> None:
        self._root = root
        self._last = last
        self._reader: RecordingReader | None = None

    def read(self) -> list[tuple[int, int]]:
        """Those that came since the last time, and when each was written, in microseconds.

        Raises:
            TfdbgError: the recording cannot be read now.

        """
        try:
            self._reader = self._reader or RecordingReader(self._root)
            found = self._reader.written(self._last)
        except TfdbgError:
            self._reader = None  # a writer that was killed leaves what only a new connection puts right
            raise
        self._last = found[-1][0] if found else self._last
        return found


def _check_manifest(path: Path, notes: list[str]) -> None:
    try:
        fields = json.loads(read_whole(path, _LONGEST_MANIFEST))
        if fields["format"] != layout.FORMAT or not isinstance(fields["version"], int):
            raise ValueError(path)
    except OSError as error:
        notes.append(f"The file {path.name} cannot be read: {error.strerror or error}.")
    except WRONG_CONTENT:
        notes.append(f"The file {path.name} is damaged.")
    else:
        layout.require_known(fields["version"], path.parent)


class RecordingReader:
    """Reads runs of the recording in `root`; `notes` say what is wrong with the rest of it.

    Raises:
        TfdbgError: it is of another format, or its index cannot be read.

    """

    def __init__(self, root: Path) -> None:
        notes: list[str] = []
        _check_manifest(root / layout.MANIFEST, notes)
        if (root / layout.DATA).is_symlink() or (root / layout.INDEX).is_symlink():
            raise TfdbgError(f"The recording {root} holds links, which tfdbg never writes; it is not read.")
        self.notes = tuple(notes)
        self._root = root
        self._index = Index(root)
        self.own_files = OwnFiles(root, self._index)
        self._elements = StoredElements(root, self.own_files)
        self._program = lru_cache(_PROGRAMS)(self._read_program)

    def written(self, behind: int = 0) -> list[tuple[int, int]]:
        """The numbers of the runs above `behind`, the oldest first, and when each was written, in microseconds.

        Raises:
            TfdbgError: the index is damaged.

        """
        rows = self.ask("SELECT id, written_us FROM runs WHERE id > ? ORDER BY id", behind)
        return [(number, time if isinstance(time, int) else 0) for number, time in rows if isinstance(number, int)]

    def noted(self, number: int) -> Sequence[str]:
        """What the program's debugger noted about the run; nothing is wrong with it.

        Raises:
            TfdbgError: it cannot be read.

        """
        found = self.ask("SELECT description FROM runs WHERE id = ?", number)
        try:
            return texts(json.loads(text(found[0][0]))["notes"]) if found else ()
        except WRONG_CONTENT:
            return ()

    def data_files(self) -> list[tuple[int, int, int]]:
        """The number of each data file, how many bytes were written into it, and how many runs have some of them.

        Raises:
            TfdbgError: the index is damaged.

        """
        found = self.ask(
            "SELECT id, size, (SELECT count(*) FROM run_files WHERE file = files.id) FROM files ORDER BY id"
        )
        return [
            (number, size, runs) for number, size, runs in found if isinstance(number, int) and isinstance(size, int)
        ]

    def unreadable_files(self) -> Iterator[tuple[FileTrouble, int]]:
        """What is wrong with each data file of which not all can be read, and of how many runs values cannot.

        Raises:
            TfdbgError: the index is damaged.

        """
        files = self.ask("SELECT id, size FROM files ORDER BY id")
        for trouble in self._troubles(files, self.own_files.seems_foreign):
            lacking = f"SELECT count(*) FROM run_files WHERE file = ? AND ({trouble.of_run('run_files.run')})"
            ((runs,),) = self.ask(lacking, trouble.number)
            if runs:
                yield trouble, runs

    def _troubles(self, files: Sequence[tuple[Any, ...]], foreign: Callable[[int], bool]) -> Iterator[FileTrouble]:
        """What is wrong with those of `files`, numbers and sizes, of which not all can be read."""
        for number, size in files:
            if not isinstance(number, int) or not isinstance(size, int):
                continue
            other = foreign(number)
            if not other and _is_whole(layout.data_file(self._root, number), size):
                continue
            from tfdbg_cli.formats.container.file_troubles import trouble_of  # of most recordings nobody needs it

            trouble = trouble_of(self._root, number, size, foreign=other)
            if trouble is not None:
                yield trouble

    def checked_index(self) -> str:
        """What SQLite's own check of the index finds wrong, which takes a look at all of it; empty for nothing."""
        return self._index.checked()

    def ask(self, question: str, *values: int) -> list[tuple[Any, ...]]:
        """The rows of the index that answer `question`. Raises a TfdbgError where it is damaged."""
        try:
            return self._index.rows(question, *values)
        except DamagedIndexError as error:
            raise TfdbgError(f"{self._root / layout.INDEX}: {error}", hint=COPY_INDEX) from error

    def run(self, number: int) -> Run:
        """The run with this number, which says what is damaged or missing of it.

        Raises:
            TfdbgError: it cannot be read.

        """
        run, damages = self.examined(number)
        lost = (f"{trouble.text}; values of this run {trouble.behind}." for trouble in self._unreadable(number))
        return replace(run, lost=(*run.lost, *damages, *lost))

    def _unreadable(self, number: int) -> Iterator[FileTrouble]:
        """As `unreadable_files`, of the data files that have values of the run."""
        sizes = "SELECT file, coalesce(size, 0) FROM run_files LEFT JOIN files ON files.id = file"
        try:
            files = self._index.rows(f"{sizes} WHERE run = ? ORDER BY file", number)
            for trouble in self._troubles(files, self.own_files.seems_foreign):
                if self._index.one(f"SELECT {trouble.of_run(str(number))}") != (0,):
                    yield trouble
        except DamagedIndexError:
            return

    def examined(self, number: int) -> tuple[Run, Sequence[str]]:
        """The run with this number, and a sentence about each part of its description that is damaged.

        Raises:
            TfdbgError: it cannot be read.

        """
        damages: list[str] = []
        try:
            found = self._index.one("SELECT tensors, program, description FROM runs WHERE id = ?", number)
            if found is None:
                raise TfdbgError(f"Run {number} is no longer in {self._root}: it gave way to newer ones.")
            count, program, description = found
            fields = json.loads(text(description))
            packed = [whole(content) for content in items(fields.get("columns", []))]
            tensors = RecordedTensors(self._index, self._elements, number, whole(count), packed)
            run = Run(read_call(fields["call"], self._feeds(number)), tensors, origin_path=str(self._root))
            notes = tuple(texts(fields["notes"]))
            error = None if fields["error"] is None else read_error(fields["error"])
            lacks, gaps = text(fields["lacks"]), text(fields.get("gaps", ""))
            run = replace(run, notes=notes, error=error, lacks=lacks, gaps=gaps, cut_off=flag(fields["cut_off"]))
            unfinished, exactness = flag(fields.get("unfinished", False)), read_exactness(fields.get("exactness"))
            run = replace(run, unfinished=unfinished, exactness=exactness, lost=texts(fields.get("lost", [])))
            profile = fields["profile"]
        except DamagedIndexError as error_:
            raise TfdbgError(f"Run {number} of {self._root} cannot be read. {error_}", hint=_OTHERS) from error_
        except WRONG_CONTENT as error_:
            said = f"Run {number} of {self._root} cannot be read: its description is damaged."
            raise TfdbgError(said, hint=_OTHERS) from error_
        if profile is not None:
            try:
                run = replace(run, profile=read_profile(json.loads(self._index.content(whole(profile)))))
            except (DamagedIndexError, *WRONG_CONTENT):
                damages.append("The times of this run are damaged and were left out.")
        run = replace(run, variables=self._variables(fields.get("variables"), damages))
        return self._with_program(run, program, damages), damages

    def _variables(self, content: Any, damages: list[str]) -> ToldVariables | None:
        """What the content with this number tells of variables; None where there is none."""
        if content is None:
            return None
        from tfdbg_cli.model.variables import ToldVariables  # to open a recording nobody needs it

        try:
            fields = json.loads(self._index.content(whole(content)))
            return ToldVariables({text(name): flag(value) for name, value in fields["trainable"].items()})
        except (DamagedIndexError, *WRONG_CONTENT):
            damages.append("Which variables of this run are trained is damaged and was left out.")
            return None

    def _with_program(self, run: Run, program: Any, damages: list[str]) -> Run:
        try:
            graph, python_graph, tracebacks, sources, lost = self._program(whole(program))
        except (DamagedIndexError, *WRONG_CONTENT):
            damages.append("The graph of this run is damaged; op types and neighbours of its nodes are not known.")
            return replace(run, tracebacks=LostTracebacks())
        damages += lost
        return replace(run, graph=graph, python_graph=python_graph, tracebacks=tracebacks, sources=sources)

    def _read_program(
        self, number: int
    ) -> tuple[Graph, Graph | None, Mapping[str, Traceback], RecordedSources, tuple[str, ...]]:
        fields = json.loads(self._index.content(number))
        lost: list[str] = []
        python = fields["python_graph"]
        tracebacks: Mapping[str, Traceback] = {}
        if fields["tracebacks"] is not None:
            try:
                tracebacks = read_tracebacks(json.loads(self._index.content(whole(fields["tracebacks"]))))
            except (DamagedIndexError, *WRONG_CONTENT):
                tracebacks = LostTracebacks()
                lost.append("The tracebacks of this run are damaged; where nodes were made is not known.")
        sources = {path: whole(content) for path, content in fields["sources"].items()}
        return (
            self._graph(fields["graph"]),
            None if python is None else self._graph(python),
            tracebacks,
            RecordedSources(self._index, sources),
            tuple(lost),
        )

    def _graph(self, fields: dict[str, Any]) -> Graph:
        parts = [(text(device), self._index.content(whole(number))) for device, number in items(fields["parts"])]
        return graph_from_parts(parts, GraphKind(fields["kind"]))

    def _feeds(self, number: int) -> RecordedFeeds:
        question = "SELECT name, dtype, shape, file, offset, stored, encoding FROM feeds WHERE run = ? ORDER BY place"
        return RecordedFeeds(self._index, self._elements, self._index.rows(question, number))


class RecordedFeeds(Mapping[str, Any]):
    """What a run was fed, by name, read on access: None where no value was recorded, a NoValue of what is damaged."""

    def __init__(self, index: Index, elements: StoredElements, rows: Sequence[tuple[Any, ...]]) -> None:
        numbers = {number for row in rows for number in row[:3] if isinstance(number, int)}
        self._texts = index.texts(numbers)
        self._elements = elements
        self._rows = {self._texts[row[0]]: row for row in rows if row[0] in self._texts}

    def __getitem__(self, name: str) -> Any:
        _, dtype, shape, *place = self._rows[name]
        if dtype not in self._texts or shape not in self._texts:
            return None
        try:
            return self._elements.value(tuple(place), self._texts[dtype], shape_of(self._texts[shape]))
        except ValueError as error:
            return damaged(f"What the recording says of this feed is damaged: {error}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
