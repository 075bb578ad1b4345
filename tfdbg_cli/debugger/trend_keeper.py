"""Norms of gradients, weights and updates over a whole training, of one run in many: numbers, and no tensors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import islice

from tfdbg_cli.analysis.many_runs.trends import trends
from tfdbg_cli.capture.failures import report_once
from tfdbg_cli.debugger.one_in_many import OneInMany
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.series import Quantity, Series
from tfdbg_cli.process.interruptions import our_errors

_MOST = 10_000  # runs of a series: beyond, every second one is let go of


class _GrowingSeries:
    """A series to which each run adds a number, without a copy of those before it."""

    def __init__(self, name: str, quantity: Quantity) -> None:
        self._name = name
        self._quantity = quantity
        self._steps = list[int]()
        self._values = list[float]()

    def add(self, one: Series) -> None:
        """Put the numbers of `one` behind the own ones; of a series that is full, every second number goes."""
        if len(self._steps) >= _MOST:
            self._steps, self._values = self._steps[::2], self._values[::2]
        self._steps += one.steps
        self._values += one.values

    def so_far(self) -> Callable[[], Series]:
        """What it holds now, to be made later, while it grows: numbers are added at the end and never change."""
        steps, values, count = self._steps, self._values, len(self._steps)
        return lambda: Series(self._name, self._quantity, tuple(islice(steps, count)), tuple(islice(values, count)))


class TrendKeeper:
    """Keeps the norms of the runs that it takes. See `run_taker.RunTaker`."""

    unattended = False
    statistics = None  # a norm takes values

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._which: OneInMany | None = None
        # By what calls have in common (`Call.same`), then by layer and quantity, in the order in which they came.
        self._series: dict[Hashable, dict[tuple[str, Quantity], _GrowingSeries]] = {}

    def begin(self, every: int) -> None:
        """Keep the norms of the first run and of every `every`-th after it."""
        self._which = OneInMany(every)

    @property
    def on(self) -> bool:
        """Whether norms are kept."""
        return self._which is not None

    @property
    def takes_some(self) -> bool:
        """Whether runs are left between those that are taken."""
        return self._which is not None and self._which.some

    @property
    def series(self) -> Mapping[Hashable, Sequence[Series]]:
        """What is kept so far, by what the calls have in common."""
        with self._lock:  # which runs wait for, but not for the copies
            held = {same: [one.so_far() for one in found.values()] for same, found in self._series.items()}
        return {same: tuple(made() for made in found) for same, found in held.items()}

    def wants(self, kind: object) -> bool:
        """Count a run that begins now; whether its norms are to be kept."""
        return self._which is not None and self._which.next(kind)

    def take(self, run: Run) -> None:
        """Keep the norms of `run`. Never raises."""
        if run.error is not None:
            return
        try:
            found = trends([run]).series
        except our_errors() as error:  # a bug of ours must not end a training
            report_once("compute the norms of a run", error)
            return
        with self._lock:
            kept = self._series.setdefault(run.call.same, {})
            for one in found:
                kept.setdefault((one.name, one.quantity), _GrowingSeries(one.name, one.quantity)).add(one)

    def failed(self, run: Run) -> None:
        """Nothing: the debugger tells errors."""

    def missed(self, sentence: str) -> None:
        """Nothing: a series has a point less."""
