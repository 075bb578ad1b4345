"""The last runs of a watch, with their values, as many as are wanted and memory allows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import valued_rows


class KeptRuns:
    """A queue of at most `most` runs whose values, together with those of one more run, fit in `room` bytes.

    The oldest ones are dropped. `held(run)` is what is kept of a run: a copy whose values stay valid. `largest` is
    the size of the largest run so far, in bytes; `crowded_out` says that runs were dropped for lack of memory.
    """

    def __init__(self, most: int, room: int, held: Callable[[Run], Run] = lambda run: run) -> None:
        self.most = most
        self.room = room
        self.largest = 0
        self.crowded_out = False
        self._held = held
        self._runs: deque[tuple[Run, int]] = deque()
        self._taken = 0

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, the oldest first."""
        return tuple(run for run, _ in self._runs)

    def add(self, run: Run) -> None:
        """Keep `run`, if need be in place of older ones; a run that is too large by itself is not kept."""
        size = values_size(run)
        self.largest = max(self.largest, size)
        next_one = self.largest  # leave room for the next run, which is in memory while these are still kept
        while self._runs and (len(self._runs) >= self.most or self._taken + size + next_one > self.room):
            self.crowded_out = self.crowded_out or len(self._runs) < self.most
            self._taken -= self._runs.popleft()[1]
        if self._taken + size + next_one > self.room:
            self.crowded_out = True
            return
        self._runs.append((self._held(run), size))
        self._taken += size


def values_size(run: Run) -> int:
    """An upper bound of the bytes that the values of `run` take: tensors that share memory are all counted."""
    store = run.tensors
    return sum(store[index].nbytes or 0 for index in valued_rows(store))
