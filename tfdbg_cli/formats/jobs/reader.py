"""Opening what the workers of a job recorded: their runs in one list, in the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from tfdbg_cli.errors import NothingYetError, TfdbgError
from tfdbg_cli.formats.container.reader import COPY_MANIFEST, News, RecordingReader, no_run_advice, told_of_files
from tfdbg_cli.formats.jobs.root import workers_in
from tfdbg_cli.formats.recording.format import NamedPath
from tfdbg_cli.formats.recording.saved_runs import GrowingRuns, SavedRecording
from tfdbg_cli.model.runs import Run

RunKey: TypeAlias = tuple[int, str, int]
"""A run of the job: when it was written, in microseconds by the clock of its worker, the worker, its number."""


def open_job(place: NamedPath) -> SavedRecording:
    """The recordings of the workers in `place`, as one. What is damaged of one hides none of the others.

    Raises:
        TfdbgError: none of them can be read, or no run was finished.

    """
    job = _Job(place.path)
    keys = job.news()
    if not keys:
        if job.broken:
            raise TfdbgError(f"No worker of the job in {place.path} can be read. {job.notes[0]}")
        advice = no_run_advice(*(place.path / worker for worker in workers_in(place)))
        raise NothingYetError(f"No run of any worker of the job in {place.path} was finished.", hint=advice)
    return SavedRecording(GrowingRuns(keys, job.run, job.news), job.notes, job.workers)


class _Job:
    """The workers in the folder `root`: those that were there, and those that come."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._readers: dict[str, RecordingReader] = {}
        self._news: dict[str, News] = {}
        self._of_files: dict[str, Sequence[str]] = {}  # what is wrong with files of its values, as it was opened
        self.workers: list[str] = []  # those that have finished a run
        self.notes: list[str] = []  # as it is now, like the workers
        self.broken = False

    def news(self) -> list[RunKey]:
        """The runs that came since the last time, in the order of time; of a worker that cannot be read none."""
        found: list[RunKey] = []
        notes: list[str] = []
        self.broken = False
        for worker in workers_in(NamedPath(self._root)):
            try:
                runs = self._news_of(worker)
            except TfdbgError as error:
                self.broken = True
                notes.append(f"The worker {worker} cannot be read: {error}")
                continue
            found += runs
            told = (*(f"{note} {COPY_MANIFEST}" for note in self._readers[worker].notes), *self._of_files[worker])
            notes += [f"The worker {worker}: {note}" for note in told]
            if not runs and worker not in self.workers:
                notes.append(f"The worker {worker} has finished no run.")
        self.notes[:] = notes
        self.workers[:] = sorted({*self.workers, *(worker for _, worker, _ in found)})
        return sorted(found)

    def _news_of(self, worker: str) -> Sequence[RunKey]:
        news = self._news.get(worker)
        if news is not None:
            found = news.read()
        else:
            reader = RecordingReader(self._root / worker)
            found = reader.written()
            self._of_files[worker] = tuple(told_of_files(reader))
            self._readers[worker] = reader
            self._news[worker] = News(self._root / worker, found[-1][0] if found else 0)
        return [(time, worker, number) for number, time in found]

    def run(self, key: RunKey) -> Run:
        """The run of that key, which says whose it is.

        Raises:
            TfdbgError: it cannot be read.

        """
        _, worker, number = key
        run = self._readers[worker].run(number)
        return replace(run, call=replace(run.call, worker=worker))
