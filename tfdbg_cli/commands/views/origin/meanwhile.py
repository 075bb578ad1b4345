"""Which run of another thread, in a recording, spoiled a variable while the run that is looked at went on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened, Run, RunOutline, RunUnderWay, outline_of
from tfdbg_cli.model.tensors import summary_of
from tfdbg_cli.model.updates import after_update

_LOOKED_AT = 200  # places of the list, on each side: of a run that takes longer than so many others nothing is told
_MOST_READ = 20  # runs that are read whole


def spoiled_meanwhile(context: Context, variable: str) -> RunUnderWay | None:
    """The run that left `variable` not finite, and of which a part went on beside the run looked at; None for none.

    Runs are numbered as they begin, and recorded as they end: of two of one process that stand in the other order
    one began and was over while the other went on, or they took turns.
    """
    if not isinstance(context.stop, Opened) or context.asks_what_if:
        return None
    runs, here = context.runs_of_program, context.current
    for place in _beside(runs, here)[:_MOST_READ]:
        try:
            run = runs[place]
        except TfdbgError:  # deleted meanwhile, or not ours to read
            continue
        if _left_bad(run, variable):
            return RunUnderWay(run.call.number, run.call.thread)
    return None


def _beside(runs: Sequence[Run], here: int) -> list[int]:
    """The places of runs of other threads beside the one at `here`, the nearest first."""
    this = _outline(runs, here)
    if this is None:
        return []
    near = range(max(0, here - _LOOKED_AT), min(len(runs), here + _LOOKED_AT + 1))
    found = []
    for place, outline in _outlines(runs, near):
        call = outline.call
        beside = (call.number < this.call.number) != (place < here)
        if place != here and beside and call.thread != this.call.thread and call.worker == this.call.worker:
            found.append(place)
    return sorted(found, key=lambda place: abs(place - here))


def _outlines(runs: Sequence[Run], places: range) -> Iterator[tuple[int, RunOutline]]:
    for place in places:
        outline = _outline(runs, place)
        if outline is not None:
            yield place, outline


def _outline(runs: Sequence[Run], place: int) -> RunOutline | None:
    """What the list tells of a run; None where it cannot be read."""
    try:
        return outline_of(runs, place)
    except TfdbgError:
        return None


def _left_bad(run: Run, variable: str) -> bool:
    """Whether `run` wrote the variable, and it is not finite afterwards."""
    rows = run.tensors.named(after_update(variable))
    summary = summary_of(run.tensors, rows[-1]) if rows else None
    return summary is not None and (summary.spoiled or summary.nonfinite > 0)
