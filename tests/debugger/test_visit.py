"""How a program went on before somebody came holds again when they have gone."""

from __future__ import annotations

from tfdbg_cli.debugger.visit import Visit
from tfdbg_cli.model.decision import Continue, Detach, Resume, RunUntil, StopAtStart
from tfdbg_cli.model.pausing import Breakpoints, Place

WATCH = RunUntil("bad_result")


def test_the_watch_from_before_is_on_again() -> None:
    visit, points = Visit(), Breakpoints()
    kept = points.add(Place("Log"))
    visit.begin(WATCH, points)
    points.add(Place("Exp"))
    assert visit.resumed(Continue(), points) == Continue()
    visit.begin(Continue(), points)  # another visit, before the first one was resumed
    assert visit.resumed(Resume(), points) == WATCH
    assert list(points) == [kept]
    assert visit.resumed(Resume(), points) == Detach()
    assert list(points) == [kept]


def test_who_detaches_ends_the_watch() -> None:
    visit, points = Visit(), Breakpoints()
    visit.begin(WATCH, points)
    assert visit.resumed(Detach(), points) == Detach()
    visit.begin(StopAtStart(), points)
    assert visit.resumed(Resume(), points) == Detach()
