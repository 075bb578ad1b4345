"""The runs of the event sets of a folder, and what was executed in them."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import overload

from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.listing import EventFiles, event_sets
from tfdbg_cli.formats.event_sets.reader import read_run
from tfdbg_cli.formats.event_sets.times import MICROSECONDS
from tfdbg_cli.formats.recording.format import NamedPath
from tfdbg_cli.formats.recording.saved_runs import SavedRuns
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.timeline import Execution


class EventRuns(SavedRuns[tuple[EventSet, int]]):
    """The runs of the event `sets` in `folder`, one set behind the other, and what is written of them meanwhile.

    `look` may be called by another thread than the one that reads runs.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = threading.RLock()
        self._folder = folder
        self._keys_found: list[tuple[EventSet, int]] = []
        super().__init__(self._keys_found, self._read_run)
        self.sets: list[EventSet] = []
        self.executions: Sequence[Execution] = ()
        self.changed = 0
        self._traced: Sequence[int] = ()  # bytes of what graphs made, by host
        self._told = 0  # how many runs there are of the last set
        self.look()

    def look(self) -> None:
        """Add what was written since the last time: to the last set, by hosts that joined it, or in new ones."""
        with self._lock:
            found = {_prefix(files): files for files in event_sets(self._folder, NamedPath(self._folder).names)}
            known = {_prefix(one.files) for one in self.sets}
            if self.sets:
                self._look_at_last(found)
            for prefix, files in found.items():
                # What tells nothing of itself yet may be a host that joins.
                if prefix not in known and (files.version or not known):
                    self.sets.append(EventSet(files))
                    self._add(self.sets[-1], 0)
            self.executions = _Timeline(self.sets, self._lock)

    @property
    def in_order_of_time(self) -> bool:
        """Whether each set was executed behind the one before it."""
        with self._lock:
            told = [one.executions for one in self.sets if len(one.executions)]
            return all(before[len(before) - 1].time <= one[0].time for before, one in pairwise(told))

    def _look_at_last(self, found: Mapping[str, EventFiles]) -> None:
        last = self.sets[-1]
        files = found.get(_prefix(last.files))
        joined = files is not None and last.join(files)
        traced = [_size(file.path) for file in last.traces.files]
        if joined or (len(traced) > 1 and traced != self._traced):  # another host may be late with any run
            for place in range(len(self._keys_found) - self._told, len(self._keys_found)):
                self.forget(place)
            self.changed += 1
        if self._told:  # eager ops may have come to the last run, or tensors of a graph
            self.forget(len(self._keys_found) - 1)
        self._traced = traced
        last.look()
        self._add(last, self._told)

    def _add(self, events: EventSet, start: int) -> None:
        self._keys_found.extend((events, at) for at in range(start, len(events.spans)))
        self._told = len(events.spans)

    def _read_run(self, key: tuple[EventSet, int]) -> Run:
        with self._lock:
            return read_run(*key)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # not there yet
        return 0


def _prefix(files: EventFiles) -> str:
    return files.run_id or files.hosts[0].prefix


class _Timeline(Sequence[Execution]):
    """The executions of `sets`, each made when it is looked at."""

    def __init__(self, sets: Sequence[EventSet], lock: threading.RLock) -> None:
        self._sets = tuple(sets)
        self._lock = lock
        self._ends = list(accumulate(len(one.executions) for one in sets))
        self._runs_before = [0, *accumulate(len(one.spans) for one in sets)]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, at: int) -> Execution: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Execution]: ...

    def __getitem__(self, at: int | slice) -> Execution | Sequence[Execution]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        with self._lock:
            return self._execution(range(len(self))[at])

    def _execution(self, place: int) -> Execution:
        which = bisect_right(self._ends, place)
        events = self._sets[which]
        number = place - (self._ends[which - 1] if which else 0)
        executed, run = events.executions[number], events.run_of(number)
        return Execution(
            self._runs_before[which] + run,
            run + 1,
            events.node_names(run)[number - events.spans[run].first],
            executed.function,
            int(executed.time * MICROSECONDS),
            len(executed.gave),
            executed.is_call,
        )
