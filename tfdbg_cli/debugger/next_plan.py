"""What the user's decision means for the next run: how it is made, and what holds after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from tfdbg_cli.analysis.watch.filters import checked_inside
from tfdbg_cli.capture.budget import refusal
from tfdbg_cli.capture.controller import EVERYTHING, Action, PendingRun, Plan, WatchRequest
from tfdbg_cli.capture.runs.eager.call import PendingEagerCall
from tfdbg_cli.capture.runs.eager.section import PendingSection
from tfdbg_cli.debugger.active_watch import RECORDED
from tfdbg_cli.model.decision import (
    DebugRun,
    Decision,
    Detach,
    PlainRun,
    ProfileRun,
    RecordRun,
    RunTo,
    RunUntil,
    StepOn,
    StopAtStart,
    Values,
)
from tfdbg_cli.model.pausing import Breakpoint, Sought

State: TypeAlias = StopAtStart | Decision
"""What was decided, and holds for the runs to come."""


@dataclass(frozen=True)
class NextPlan:
    """The `plan` of a run, and the state `then`, for the runs after it. With `force` it may exceed the budget."""

    plan: Plan
    then: State
    force: bool = False


def next_plan(state: State, number: int, directory: Path | None, watched: WatchRequest | None) -> NextPlan:
    """What `state` asks for the run with that number.

    Args:
        state: what was decided; a stop before this run is over already.
        number: of the run, from 1.
        directory: where the run is dumped if its values are captured; None to keep them in memory.
        watched: what the run is checked for, if a watch is on.

    """
    match state:
        case DebugRun(times=times) if times > 1:
            return NextPlan(Plan(number, errors=True), replace(state, times=times - 1))
        case DebugRun(capture=capture, force=force, values=values):
            plan = Plan(number, Action.CAPTURE, True, capture, directory=directory, values=values)
            return NextPlan(plan, state, force)
        case RunUntil(capture=capture, force=force):
            return NextPlan(Plan(number, Action.CAPTURE, True, capture, watched, directory), state, force)
        case RecordRun(force=force):
            return NextPlan(Plan(number, Action.CAPTURE, True, EVERYTHING, RECORDED), state, force)
        case ProfileRun():
            return NextPlan(Plan(number, Action.PROFILE, True), state)
        case PlainRun():
            return NextPlan(Plan(number, errors=True), StopAtStart())
        case Detach():
            return NextPlan(Plan(number), state)
        case _:  # eager code stops within a run, at an op
            return NextPlan(Plan(number, errors=True), state)


def sought_by(state: State, breakpoints: Iterable[Breakpoint]) -> Sought | None:
    """What code that runs eagerly is to stop at while `state` holds; None where it need not be looked at."""
    pace = state.pace if isinstance(state, StepOn) else None
    place = state.place if isinstance(state, RunTo) else None
    heeded = () if isinstance(state, Detach) else tuple(breakpoints)
    return Sought(pace, place, heeded) if pace or place or heeded else None


def runs_op_by_op(pending: PendingRun) -> bool:
    """Whether the program can be stopped in the middle of the run, which runs eagerly."""
    return isinstance(pending, PendingSection | PendingEagerCall)


def over_budget(plan: Plan, pending: PendingRun, watched: int) -> str | None:
    """Why a run as planned takes more memory or disk than the budget leaves, in a sentence; None if it does not.

    `watched` is how many runs the watch has seen so far, if `plan` belongs to one.
    """
    if plan.watched is not None:
        # Asked when the watch begins: asking before every run would cost more than the run. Checks inside the run
        # take no memory, and whether there is any for the values is found out by the capture itself.
        inside = checked_inside(plan.watched.tensor_filter) and plan.watched.values is not Values.KEEP
        if inside or watched:
            return None
    return refusal(pending.estimate(plan.capture, plan.watching, plan.directory))
