"""How a program went on before somebody came holds again when they have gone."""

from __future__ import annotations

from tfdbg_cli.debugger.next_plan import State
from tfdbg_cli.debugger.visit import Visit
from tfdbg_cli.model.decision import (
    ByVisitor,
    Continue,
    DebugRun,
    Decision,
    Detach,
    Outcome,
    Resume,
    RunUntil,
    StopAtStart,
)
from tfdbg_cli.model.pausing import Breakpoints, Place

WATCH = RunUntil("bad_result")


def _decided(visit: Visit, outcome: Outcome, points: Breakpoints, state: State = StopAtStart()) -> Decision:  # noqa: B008  # frozen
    return visit.decided(outcome, state, frozenset(points), points)


def test_the_watch_from_before_is_on_again() -> None:
    visit, points = Visit(), Breakpoints()
    kept = points.add(Place("Log"))
    visit.begin(WATCH, points)
    points.add(Place("Exp"))
    assert _decided(visit, ByVisitor(Continue()), points) == Continue()
    visit.begin(Continue(), points)  # another visit, before the first one was resumed
    assert _decided(visit, Resume(), points) == WATCH
    assert list(points) == [kept]
    assert _decided(visit, Resume(), points) == Detach()
    assert list(points) == [kept]


def test_who_detaches_ends_the_watch() -> None:
    visit, points = Visit(), Breakpoints()
    visit.begin(WATCH, points)
    assert _decided(visit, ByVisitor(Detach()), points) == Detach()
    visit.begin(StopAtStart(), points)
    assert _decided(visit, Resume(), points) == Detach()


def test_a_visitor_who_meets_a_stop_that_opens_anyway_is_one_from_then_on() -> None:
    visit, points = Visit(), Breakpoints()
    visit.asked = True  # they were called for when that stop had begun to open
    assert _decided(visit, ByVisitor(DebugRun()), points, WATCH) == DebugRun()
    assert not visit.asked
    visit.asked = True
    visit.begin(DebugRun(), points)
    assert _decided(visit, Resume(), points, DebugRun()) == WATCH


def test_what_is_decided_without_a_visitor_is_none_of_a_visit() -> None:
    visit, points = Visit(), Breakpoints()
    assert _decided(visit, WATCH, points) == WATCH
    visit.begin(WATCH, points)
    assert _decided(visit, Resume(), points) == WATCH


def test_a_visitor_lost_at_a_stop_that_was_not_for_them_leaves_the_watch_on() -> None:
    visit, points = Visit(), Breakpoints()
    assert _decided(visit, Resume(), points, WATCH) == WATCH
