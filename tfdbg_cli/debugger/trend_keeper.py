"""Norms of gradients, weights and updates over a whole training, of one run in many: numbers, and no tensors."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from tfdbg_cli.analysis.trends import trends
from tfdbg_cli.capture.failures import report_once
from tfdbg_cli.debugger.one_in_many import OneInMany
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.series import Quantity, Series
from tfdbg_cli.process.interruptions import our_errors

_MOST = 10_000  # runs of a series: beyond, every second one is let go of


class TrendKeeper:
    """Keeps the norms of the runs that it takes. See `run_taker.RunTaker`."""

    unattended = False
    statistics = None  # a norm takes values

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._which: OneInMany | None = None
        # By what calls have in common (`Call.same`), then by layer and quantity, in the order in which they came.
        self._series: dict[Hashable, dict[tuple[str, Quantity], Series]] = {}

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
        with self._lock:
            return {same: tuple(found.values()) for same, found in self._series.items()}

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
                before = kept.get((one.name, one.quantity))
                kept[one.name, one.quantity] = one if before is None else _extended(before, one)

    def failed(self, run: Run) -> None:
        """Nothing: the debugger tells errors."""

    def missed(self, sentence: str) -> None:
        """Nothing: a series has a point less."""


def _extended(before: Series, one: Series) -> Series:
    """`before` with the numbers of `one` behind its own; of a series that is full, every second number goes."""
    steps, values = before.steps, before.values
    if len(steps) >= _MOST:
        steps, values = steps[::2], values[::2]
    return replace(before, steps=steps + one.steps, values=values + one.values)
