"""One tensor over many runs, as statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, merged, summarize
from tfdbg_cli.model.tensors import Tensor, summary_of
from tfdbg_cli.model.values import LOST, Array, NoValue


class Statistic(StrEnum):
    """A number that sums up a tensor."""

    ABSMAX = "absmax"
    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    STD = "std"
    NAN = "nan"


@dataclass(frozen=True, slots=True)
class Point:
    """The tensor in one run. `place` is the run's in the sequence, `number` its number in the program.

    `summary` is over all its executions in the run, as recorded where no values are. It is None of texts, which are
    no numbers; of others `lack` says why.
    """

    place: int
    number: int
    summary: Summary | None
    executions: int = 1
    lack: NoValue | None = None

    @property
    def is_lost(self) -> bool:
        """Whether there were values, and nobody can read one."""
        return self.summary is None and self.lack is not None and self.lack.lack in LOST

    def value(self, statistic: Statistic) -> float | None:
        """The statistic. Infinite elements count for min, max and absmax, which are NaN where there is only NaN.

        None where there is nothing to take it of, and where the recording does not tell it.
        """
        summary = self.summary
        if summary is None or (not summary.size and "size" not in summary.unknown):
            return None
        if statistic is Statistic.NAN:
            return None if "nan" in summary.unknown else float(summary.nan)
        if statistic is Statistic.MEAN:
            return summary.told("mean")
        if statistic is Statistic.STD:
            return summary.told("std")
        numbers = [] if summary.min is None or summary.max is None else [summary.min, summary.max]
        numbers += [-math.inf] * bool(summary.neg_inf) + [math.inf] * bool(summary.pos_inf)
        if summary.unknown & {"min", "max"}:  # an infinity goes beyond whatever else is there
            end = statistic is not Statistic.MIN, statistic is not Statistic.MAX
            numbers = [number for number in numbers if (end[0] and number > 0) or (end[1] and number < 0)]
        if not numbers:
            return None if summary.unknown & {"min", "max"} else math.nan
        if statistic is Statistic.ABSMAX:
            return max(map(abs, numbers))
        return min(numbers) if statistic is Statistic.MIN else max(numbers)


@dataclass(frozen=True, slots=True)
class TensorHistory:
    """The runs that hold the tensor, the oldest first; how many do not, and how many cannot be read."""

    points: tuple[Point, ...]
    without: int = 0
    unreadable: int = 0

    def first_above(self, statistic: Statistic, limit: float) -> Point | None:
        """The first run in which the statistic is larger than `limit`."""
        values = ((point, point.value(statistic)) for point in self.points)
        return next((point for point, value in values if value is not None and value > limit), None)


def tensor_history(
    runs: Sequence[Run],
    tensor: Tensor,
    *,
    wanted: Callable[[Run], bool] = lambda run: True,
    part: Callable[[Array], Array] | None = None,
    execution: int | None = None,
    name_in: Callable[[Run], TensorName | None] | None = None,
) -> TensorHistory:
    """The history of `tensor`, on its device, over those of `runs` that are `wanted`.

    `part` cuts out what counts of each value, which must be there for it; with `execution` only that one counts.
    `name_in` tells what the tensor is called in a run, where that is not the same in all of them.
    """
    points: list[Point] = []
    without = unreadable = 0
    for place in range(len(runs)):
        try:
            run = runs[place]
        except TfdbgError:
            unreadable += 1
            continue
        if not wanted(run):
            continue
        rows = _rows(run, tensor, tensor.name if name_in is None else name_in(run), execution)
        if rows:
            points.append(_point(run, place, rows, part))
        else:
            without += 1
    return TensorHistory(tuple(points), without, unreadable)


def _rows(run: Run, tensor: Tensor, name: TensorName | None, execution: int | None) -> list[int]:
    store = run.tensors
    found = [] if name is None else list(store.named(name.node, name.slot))
    here = [row for row in found if store[row].device == tensor.device] or found
    if execution is None:
        return here
    return here[execution : execution + 1 or None] if -len(here) <= execution < len(here) else []


def _point(run: Run, place: int, rows: Sequence[int], part: Callable[[Array], Array] | None) -> Point:
    summaries: list[Summary] = []
    lack: NoValue | None = None
    for row in rows:
        summary = summary_of(run.tensors, row) if part is None else None
        value = run.tensors.value(row) if summary is None else None
        if isinstance(value, NoValue):
            lack = value
        elif value is not None and part is not None:
            summary = summarize(part(value))
        if summary is not None and (summary.holds_numbers or not summary.size):
            summaries.append(summary)
    return Point(place, run.call.number, merged(summaries) if summaries else None, len(rows), lack)
