"""In a recording `origin` names the run of another thread that spoiled a variable while the run went on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.made_run import NAN, made_run, op
from support.prompt import json_of, text_of

from tfdbg_cli.model.runs import Opened, Run

EARLIER = "Variable shared is not finite: an earlier run or its initializer made it so."


def _numbered(run: Run, number: int, thread: str, **facts: Any) -> Run:
    return replace(run, call=replace(run.call, number=number, thread=thread, **facts))


def _pull(number: int = 3) -> Run:
    """A run that finds the variable spoiled."""
    run = made_run(op("shared", "VariableV2", value=[NAN]), op("pull", "Assign", "local", "shared", value=[NAN]))
    return _numbered(replace(run, call=replace(run.call, fetches=("pull:0",))), number, "MainThread")


def _push(number: int, *, value: float = NAN, thread: str = "pusher", writes: str = "shared", **facts: Any) -> Run:
    """A run that writes the variable."""
    written = op(f"{writes}/after_update", "UpdatedVariable", writes, value=[value])
    return _numbered(made_run(op(writes, "VariableV2", value=[1.0]), written), number, thread, **facts)


def _told(runs: list[Run], current: int) -> dict[str, Any]:
    return json_of("origin", Opened("recording", runs, current=current))


@pytest.mark.parametrize("runs", [[_pull(3), _push(2)], [_push(9), _pull(3)]], ids=["ends later", "is over first"])
def test_the_run_that_was_under_way_is_named(runs: list[Run]) -> None:
    """A blind test: an earlier run was said to have done it, and the program to be watched from the start."""
    number = next(run.call.number for run in runs if run.call.thread == "pusher")
    current = next(place for place, run in enumerate(runs) if run.call.thread != "pusher")
    data = _told(runs, current)
    told = f"run #{number} in thread pusher, which was under way, wrote it, and left it not finite"
    assert data["cause"] == f"Variable shared is not finite: {told}."
    assert data["suggestion"] == f"See what `origin` tells of that run, which `runs #{number}` opens."
    assert told in " ".join(text_of("origin", Opened("recording", runs, current=current)).split())


@pytest.mark.parametrize(
    "other",
    [
        _push(2, value=1.0),
        _push(2, thread="MainThread"),
        _push(2, writes="other"),
        _push(2, worker="worker:1"),
        _push(4),
    ],
    ids=[
        "left it finite",
        "of the same thread",
        "wrote another",
        "of another worker",
        "began later, and ended later",
    ],
)
def test_no_other_run_is_named(other: Run) -> None:
    assert _told([_pull(3), other], 0)["cause"] == EARLIER


def test_of_several_it_is_the_nearest() -> None:
    runs = [_pull(5), _push(4, value=1.0), _push(3), _push(2, thread="else")]
    assert "run #3 in thread pusher" in _told(runs, 0)["cause"]
