"""The runs of the event sets of a folder, and what was executed in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import overload

from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.reader import read_run
from tfdbg_cli.formats.event_sets.times import MICROSECONDS
from tfdbg_cli.formats.recording.saved_runs import SavedRuns
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.timeline import Execution


class EventRuns(SavedRuns[tuple[EventSet, int]]):
    """The runs of `sets`, one set behind the other."""

    def __init__(self, sets: Sequence[EventSet]) -> None:
        super().__init__([(one, at) for one in sets for at in range(len(one.spans))], _read)
        self.executions: Sequence[Execution] = _Timeline(sets)


def _read(key: tuple[EventSet, int]) -> Run:
    return read_run(*key)


class _Timeline(Sequence[Execution]):
    """The executions of `sets`, each made when it is looked at."""

    def __init__(self, sets: Sequence[EventSet]) -> None:
        self._sets = sets
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
        place = range(len(self))[at]
        which = bisect_right(self._ends, place)
        events = self._sets[which]
        number = place - (self._ends[which - 1] if which else 0)
        executed, run = events.executions[number], events.run_of(number)
        return Execution(
            self._runs_before[which] + run,
            events.node_names(run)[number - events.spans[run].first],
            executed.function,
            int(executed.time * MICROSECONDS),
            len(executed.gave),
            executed.is_call,
        )
