"""A stop names the watched runs of other threads that are not over, and `origin` says what they may have done."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import NAN, made_run, op
from support.prompt import json_of, text_of
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Estimate, Hit, Run, RunEnd, RunStart, RunUnderWay, StopBefore
from tfdbg_cli.model.tensors import MemoryTensorStore, describe

_UNDER_WAY = (RunUnderWay(6, "pusher"),)
_CAUSE = "Variable shared is not finite: "


class _Pending:
    def start(self, number: int) -> RunStart:
        return RunStart(Call(number, RunKind.SESSION, ("y:0",)), estimate=self.estimate())

    def estimate(self, *args: object, **arguments: object) -> Estimate:
        return Estimate(1, 10, 0, 1000, "memory")


def _ran(plan: Plan, value: float) -> Run:
    array = np.array([value], np.float32)
    tensor = describe(TensorName("y", 0), array, device="", op_type="Add", dtype="float32")
    return Run(Call(plan.number, RunKind.SESSION, ("y:0",)), MemoryTensorStore([tensor], [array]))


class _Pusher:
    """Another thread, which begins a run, and ends it when it is told to."""

    def __init__(self, debugger: Debugger, how: str = "finite") -> None:
        self._begun, self._goes_on = threading.Event(), threading.Event()
        self._debugger, self._how = debugger, how
        self._thread = threading.Thread(target=self._push, name="pusher")

    def _push(self) -> None:
        plan = self._debugger.run_starts(_Pending())  # type: ignore[arg-type]
        self._begun.set()
        assert self._goes_on.wait(120)
        if self._how == "abandoned":
            self._debugger.run_abandoned(plan)
        elif self._how == "checked":
            self._debugger.run_passed(plan, lambda: _ran(plan, 1.0))
        else:
            self._debugger.run_ends(plan, _ran(plan, 1.0))

    def begin(self) -> None:
        self._thread.start()
        assert self._begun.wait(120)

    def end(self) -> None:
        self._goes_on.set()
        self._thread.join(120)


def _watched() -> tuple[Debugger, ScriptedFrontend]:
    front = ScriptedFrontend(*[RunUntil("has_inf_or_nan")] * 3)
    return Debugger(lambda: front), front


def _hit(front: ScriptedFrontend) -> Hit:
    hit = front.ends[-1].hit
    assert hit is not None
    return hit


def test_a_stop_names_the_run_of_another_thread_that_goes_on() -> None:
    debugger, front = _watched()
    debugger.run_ends(first := debugger.run_starts(_Pending()), _ran(first, 1.0))  # type: ignore[arg-type]
    pusher = _Pusher(debugger)
    pusher.begin()
    for number in (3, 4):  # the second stop is one of a watch that began at the first
        plan = debugger.run_starts(_Pending())  # type: ignore[arg-type]
        debugger.run_ends(plan, _ran(plan, NAN))
        assert (plan.number, _hit(front).under_way) == (number, (RunUnderWay(2, "pusher"),))
    pusher.end()


@pytest.mark.parametrize("how", ["finite", "checked", "abandoned"])
def test_a_run_that_is_over_is_not_named(how: str) -> None:
    debugger, front = _watched()
    debugger.run_ends(first := debugger.run_starts(_Pending()), _ran(first, 1.0))  # type: ignore[arg-type]
    pusher = _Pusher(debugger, how)
    pusher.begin()
    pusher.end()
    plan = debugger.run_starts(_Pending())  # type: ignore[arg-type]
    debugger.run_ends(plan, _ran(plan, NAN))
    assert _hit(front).under_way == ()


def _shown(**facts: Any) -> RunEnd:
    run = made_run(op("shared", "VariableV2", value=[NAN]), op("pull", "Assign", "local", "shared", value=[NAN]))
    run = replace(run, call=replace(run.call, number=7, fetches=("pull:0",)))
    return RunEnd(run, Hit("has_inf_or_nan", "", 6, **facts))


def test_origin_says_that_a_run_that_is_not_over_may_have_spoiled_the_variable() -> None:
    """A blind test: an earlier run was said to have done it, and the program to be watched from the start."""
    data = json_of("origin", _shown(last_passed=5, under_way=_UNDER_WAY))
    told = "run #6 in thread pusher may have made it so: it is not over yet"
    assert data["since"] == f"after run #5, the last one in which the watch found nothing; {told}"
    assert data["cause"] == f"{_CAUSE}a run of another thread, an earlier run or its initializer made it so."
    assert data["suggestion"].startswith("Go on with `run -f has_inf_or_nan`: if run #6 made it so, the watch stops")
    text = " ".join(text_of("origin", _shown(last_passed=5, under_way=_UNDER_WAY)).split())
    assert "a run of another thread, an earlier run" in text and told in text


def test_what_is_known_of_runs_before_is_not_said_where_a_run_is_not_over() -> None:
    told = "run #6 in thread pusher may have made it so: it is not over yet"
    assert json_of("origin", _shown(under_way=_UNDER_WAY))["since"] == told
    behind = StopBefore(4, frozenset({"local"}))
    assert json_of("origin", _shown(under_way=_UNDER_WAY, behind=behind))["since"] == told


def test_of_many_runs_that_are_not_over_some_are_named() -> None:
    runs = tuple(RunUnderWay(number, f"worker-{number}") for number in range(1, 6))
    data = json_of("origin", _shown(under_way=runs))
    named = ", ".join(f"run #{number} in thread worker-{number}" for number in (1, 2, 3))
    assert data["since"] == f"{named} or 2 more may have made it so: they are not over yet"
    assert "if one of the runs that are not over made it so" in data["suggestion"]


def test_where_none_is_under_way_the_words_stay() -> None:
    data = json_of("origin", _shown(last_passed=5))
    assert data["cause"] == f"{_CAUSE}an earlier run or its initializer made it so."
    assert data["since"] == "after run #5, the last one in which the watch found nothing"
