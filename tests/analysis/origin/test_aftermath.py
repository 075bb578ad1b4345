"""What a run did with the infinity that it met: loss scaling leaves an update out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import json_of, text_of

from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run

_INF = np.inf
_WATCH_ON = "run -f has_inf_or_nan -fenn gradient"


def _step(updated: float, asks: str = "IsFinite") -> Run:
    return made_run(
        op("x", "Placeholder", value=[4e4]),
        op("gradient_tape/mul", "Mul", "x", "x", value=[_INF]),
        op("asked", asks, "gradient_tape/mul", value=np.array([False])),
        op("w/after_update", "UpdatedVariable", "x", "asked", value=[updated]),
    )


def test_an_update_that_the_program_left_out_is_said_to_be() -> None:
    text = text_of("origin", _step(1.0), width=200)
    assert "Guarded   asked asks whether gradients are finite" in text
    assert _WATCH_ON in text
    assert json_of("origin", _step(1.0))["guarded_by"] == "asked"


def test_a_variable_that_an_update_knows_by_its_handle_is_named_once() -> None:
    """Op by op the handle has a name of its own, and the variable the one that the program gives it."""
    run = made_run(
        op("x", "Placeholder", value=[np.nan]),
        op("momentum/VarHandleOp_4", "Placeholder"),
        op("add", "AssignAddVariableOp", "momentum/VarHandleOp_4", "x"),
        op("opt.momentum/after_update", "UpdatedVariable", control=("add",), value=[np.nan]),
    )
    assert json_of("origin", run)["after"]["variables"] == ["opt.momentum"]


def test_a_variable_that_a_loop_updates_too_is_named_once() -> None:
    run = made_run(
        op("w", "Placeholder", value=[1.0]),
        op("bad", "Log", "w", value=[np.nan]),
        op("while/body/w/after_update", "UpdatedVariable", "w", "bad", value=[np.nan]),
        op("w/after_update", "UpdatedVariable", "w", value=[np.nan]),
    )
    assert json_of("origin", run)["after"]["variables"] == ["w"]


def test_what_an_eager_op_is_given_comes_in_with_that_op() -> None:
    run = made_run(
        op("value", "Exp", value=3.0),
        op("ret", "Placeholder"),
        op("diff", "Sub", "ret", "value", value=np.nan),
        feeds={"ret:0": np.array(np.nan)},
    )
    assert "After     1 of 2 later tensors holds" in text_of("origin", run, width=200)
    eager = replace(run, call=replace(run.call, kind=RunKind.EAGER))
    assert "After     1 of 1 later tensor holds" in text_of("origin", eager, width=200)


@pytest.mark.parametrize("run", [_step(_INF), _step(1.0, "Neg")], ids=["spoiled", "nobody asked"])
def test_otherwise_nothing_is_promised(run: Run) -> None:
    assert "Guarded" not in text_of("origin", run)
    assert json_of("origin", run)["guarded_by"] is None
