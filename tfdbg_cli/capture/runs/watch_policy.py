"""What becomes of the values of a watched run: kept while it happens, made again after a hit, or done without.

One policy for sessions and functions. How values are kept and runs are made again is up to them
(`session/watched_run`, `function/watched_calls`). Decided here is which of these is done, when a run counts as a hit,
and what the screen says of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto

from tfdbg_cli.analysis.watch.datum import TensorDatum, datum_of
from tfdbg_cli.capture.failures import report_bug
from tfdbg_cli.capture.replay.replayed import Replayed, not_again, without_values
from tfdbg_cli.model.decision import Values
from tfdbg_cli.model.runs import Estimate, Run
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.units import bytes_text, count_text
from tfdbg_cli.model.values import Value
from tfdbg_cli.process.interruptions import our_errors

_CHECKED = "The run was checked {where}: {checks} for {tensors}."
_KEPT_INSTEAD = "This run cannot be made again ({}), so its values were kept instead."
_NOR_KEPT = "This run cannot be made again ({})."
_TOO_LARGE = (
    "The values are missing: they would take about {}, more than the {} of memory that tfdbg may use. Raise the "
    "budget with `config set memory_budget SIZE`."
)
_REPLAYED = (
    "These values are of the same run made once more, from the state that was held before it: the program's own "
    "variables are as the run left them."
)
_OTHERWISE = (
    "Made once more, the run gave nothing that the watch asks for: the values shown are not those of the hit. "
    "Another thread may have changed a variable meanwhile, or an op may give other last digits when all values are "
    "taken. `run -f … --values keep` keeps the values of every run."
)
_FAILED = (
    "Made once more, the run failed with {}, which the program's own did not: the values shown are those from before."
)


class Course(Enum):
    """Where the values of a hit come from."""

    KEEP = auto()  # every run returns its values, which are held until the next run
    REPLAY = auto()  # a snapshot is taken before each run, from which a hit is made again
    WITHOUT = auto()  # neither can be done: a hit has no values


@dataclass(frozen=True)
class Policy:
    """What is done about the values of watched runs, and what the screen says of that at a hit."""

    course: Course
    notes: tuple[str, ...] = ()


def policy(wanted: Values, obstacle: str, needed: Callable[[], Estimate]) -> Policy:
    """The policy for a watch, by what the user wants and what is possible.

    Args:
        wanted: as in `run -f FILTER --values WANTED`.
        obstacle: why a run cannot be made again; empty when it can.
        needed: estimates the size of the values of one run; called only if that matters.

    """
    if wanted is Values.KEEP:
        return Policy(Course.KEEP)
    if not obstacle:
        return Policy(Course.REPLAY)
    estimate = needed()
    if fits(estimate):
        return Policy(Course.KEEP, (_KEPT_INSTEAD.format(obstacle),))
    return Policy(Course.WITHOUT, (_NOR_KEPT.format(obstacle), too_large(estimate)))


def fits(estimate: Estimate) -> bool:
    """Whether values may be held in memory; where nothing is known of their size, it is tried."""
    return estimate.nbytes is None or estimate.nbytes <= estimate.budget


def too_large(estimate: Estimate) -> str:
    """The sentence for values that may not be held in memory."""
    return _TOO_LARGE.format(bytes_text(estimate.nbytes or 0), bytes_text(estimate.budget))


def checked(checks: int, tensors: int, where: str = "inside TensorFlow") -> str:
    """The sentence for a run in which `checks` checks stand for `tensors` tensors; `where` is how it was checked."""
    told = f"{checks} check stands" if checks == 1 else f"{checks:,} checks stand"
    return _CHECKED.format(where=where, checks=told, tensors=count_text(tensors, "tensor"))


def is_hit(tensors: TensorStore, *, found: bool, sure: bool) -> bool:
    """Whether a run counts as one in which the watch found what it looks for.

    Args:
        tensors: the values of the run, as far as there are any.
        found: whether the checks found something.
        sure: whether the filter certainly passes what they found. If not, the run is no hit yet as long as there are
            values, of which the filter is asked later.

    """
    return found and (sure or not len(tensors))


def replayed_hit(
    replay: Callable[[], Replayed], finds: Callable[[Replayed], bool], needed: Callable[[], Estimate], *, sure: bool
) -> Replayed:
    """A hit made again by `replay`. The first note says whether its values are there, and whether they show the hit.

    Args:
        replay: makes the run again.
        finds: whether values hold what the watch looks for; asked if the checks were sure that they do.
        needed: what the values of the run take; those that memory has no room for are not made.
        sure: whether the filter would pass what the checks found.

    """
    estimate = needed()
    if not fits(estimate):
        return without_values(too_large(estimate))
    try:
        replayed = replay()
    except our_errors() as failure:  # the hit is worth showing without values, too
        report_bug("make a run again", failure)
        return not_again(failure)
    otherwise = sure and len(replayed.tensors) and not finds(replayed)
    failed = f"{replayed.error.type_name}: {replayed.error.message}" if replayed.error is not None else ""
    note = _FAILED.format(failed) if otherwise and failed else _OTHERWISE if otherwise else _REPLAYED
    return replace(replayed, notes=(note, *replayed.notes))


def passes(run: Run, test: Callable[[TensorDatum, Value], bool]) -> bool:
    """Whether one of the values of `run` passes `test`."""
    return any(test(datum_of(run, row), run.tensors.value(row)) for row in range(len(run.tensors)))
