"""Since when a variable is not finite, as far as runs tell that the same watch went past."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import NAN, made_run, op
from support.prompt import Prompt

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.debugger.progress_line import ProgressLine
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.decision import OnBenign, RunUntil
from tfdbg_cli.model.ignored import Ignored
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.sources import Frame


def _written(number: int, *variables: str, value: Any = (1.0, NAN)) -> Run:
    """A run in which a checkpoint puts `value` into `variables`."""
    ops = [op("restored", "RestoreV2", value=value)]
    for name in variables:
        ops += [
            op(name, "VarHandleOp"),
            op(f"{name}/read", "ReadVariableOp", name, value=[1.0, 1.0]),
            op(f"{name}/write", "AssignVariableOp", name, "restored"),
            op(f"{name}/after_update", "UpdatedVariable", name, "restored", value=value, control=(f"{name}/write",)),
        ]
    run = made_run(*ops, op("done", "Const", value=[1.0]))
    tracebacks = {f"{name}/write": (Frame("train.py", 5, "<module>", ""),) for name in variables}
    return replace(run, call=replace(run.call, number=number), tracebacks=tracebacks)


def _read(number: int, value: Any = (1.0, NAN)) -> Run:
    """A step that reads a variable, which it calls kernel/velocity."""
    name = "kernel/velocity"
    run = made_run(
        op(name, "Placeholder"), op("read", "ReadVariableOp", name, value=value), op("y", "Mul", "read", value=value),
        feeds={name: np.float32(value)},
    )  # fmt: skip
    argument = CallArgument(name, "resource", (), captured=True)
    return replace(run, call=replace(run.call, number=number, kind=RunKind.FUNCTION, arguments=(argument,)))


def _prompt(*runs: Run) -> Prompt:
    said: list[str] = []
    decision = RunUntil("has_inf_or_nan", benign=OnBenign.SKIP)
    asked = BUILT_IN_FILTERS["has_inf_or_nan"]
    watch = ActiveWatch(decision, asked, Settings(), ProgressLine(), said.append, Ignored())
    *before, last = runs
    assert [watch.sees(run) for run in before] == [None] * len(before)
    hit = watch.sees(last)
    assert hit is not None
    return Prompt(RunEnd(last, hit))


@pytest.mark.parametrize("between", [(), (2,)], ids=["right before", "another run between"])
def test_the_run_that_the_watch_went_past_and_its_line_are_named(between: tuple[int, ...]) -> None:
    """A blind test: it was said to be so before the watch began, which had told of that run, by another name."""
    prompt = _prompt(_written(1, "v"), *(_read(number, (1.0, 1.0)) for number in between), _read(3))
    text = " ".join(prompt.show("origin").split())
    assert "Since run #1, which calls it v: written at train.py:5 by no computation of that run" in text
    data = prompt.data("origin")
    assert data["cause"].endswith("was already not finite when it was read: run #1 wrote it so at train.py:5.")
    assert data["suggestion"].startswith("Check what is written at train.py:5")


def test_of_two_variables_that_hold_the_same_none_is_named() -> None:
    text = " ".join(_prompt(_written(1, "m", "v"), _read(2)).show("origin").split())
    assert "Since run #1: written at train.py:5" in text and "calls it" not in text


@pytest.mark.parametrize("value", [(2.0, NAN), (NAN, 1.0)])
def test_a_variable_that_holds_something_else_is_not_taken_for_it(value: Any) -> None:
    assert "run #1, which" not in _prompt(_written(1, "v"), _read(2, value)).show("origin")
