"""Turns of eager code beside each other: what the program gave them counts, and reads follow the updates before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import Op, made_run, op
from support.prompt import Prompt

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.comparison import compared_runs
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Opened, Run

GRADIENT = np.array([2.0, 4.0], np.float32)


def _turn(rate: float, *, known: bool = True) -> Run:
    """`w.assign_sub(rate * gradient)` with w = 0, and w read before and after."""
    step = GRADIENT * np.float32(rate)
    feeds = {"rate": np.array(rate, np.float32) if known else None, "gradient": GRADIENT}
    run = made_run(
        op("w", "VarHandleOp"), op("rate", "Placeholder"), op("gradient", "Placeholder"),
        op("before", "ReadVariableOp", "w", value=np.zeros(2, np.float32)),
        op("step", "Mul", "rate", "gradient", value=step), op("assign", "AssignSubVariableOp", "w", "step"),
        op("w/after_update", "UpdatedVariable", "w", "step", value=-step),
        op("read", "ReadVariableOp", "w", value=-step), feeds=feeds,
    )  # fmt: skip
    return replace(run, call=replace(run.call, kind=RunKind.EAGER))


def test_what_was_given_is_why_and_all_else_follows() -> None:
    found = compared_runs(_turn(0.1), _turn(0.2))
    states = {found.runs[0].tensors[one.rows[0]].node: one.state for one in found.verdicts}
    assert states == {"step": TensorFate.NEW, "w/after_update": TensorFate.FOLLOWS, "read": TensorFate.FOLLOWS}
    assert found.first is not None
    inputs = {one.names[0]: (one.given, one.state) for one in found.inputs(found.first)}
    assert inputs == {"rate:0": (True, TensorFate.NEW), "gradient:0": (True, TensorFate.EQUAL)}


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (True, "The program gave it something else: rate:0 is 0.1 in A, and 0.2 in B."),
        (False, "No input that is known differs. rate:0 is not recorded: it may."),
    ],
    ids=["kept", "lost"],
)
def test_the_page_says_so(known: bool, why: str) -> None:
    opened = Opened("case", [_turn(0.1, known=known), _turn(0.2, known=known)])
    assert why in " ".join(Prompt(opened).show("diff 1 2", 200).split())


def test_what_was_given_alike_is_no_reason() -> None:
    one, other = _turn(0.1), _turn(0.1)
    wrong = made_run(
        op("rate", "Placeholder"), op("gradient", "Placeholder"),
        op("step", "Mul", "rate", "gradient", value=np.array([7.0, 7.0], np.float32)), feeds=dict(other.call.feeds),
    )  # fmt: skip
    found = compared_runs(one, replace(wrong, call=replace(wrong.call, kind=RunKind.EAGER)))
    assert found.first is not None and found.first.state is TensorFate.NEW
    assert all(item.state is TensorFate.EQUAL for item in found.inputs(found.first))


def _counted(*, eager: bool, off: float = 0.0) -> Run:
    """`m.assign(0.9 * m + gradient)`, of a gradient that is nothing but rounding, and m read behind that.

    In a function the read waits for the update; of eager ops only their order tells so, and no update is shown here.
    """
    gradient = np.array([1e-9, -3e-9], np.float32) * np.float32(1 + off)
    waits = {} if eager else {"control": ("assign",)}
    large = np.array([1.0, 2.0], np.float32)
    run = made_run(
        op("m", "VarHandleOp"), op("rate", "Const", value=np.float32(0.9)),
        op("x", "Const", value=large), op("gradient", "Sub", "x", "x", value=gradient),
        op("before", "ReadVariableOp", "m", value=np.zeros(2, np.float32)),
        op("kept", "Mul", "rate", "before", value=np.zeros(2, np.float32)),
        op("sum", "AddV2", "kept", "gradient", value=gradient), op("assign", "AssignVariableOp", "m", "sum"),
        op("read", "ReadVariableOp", "m", value=gradient, **waits),
    )  # fmt: skip
    return replace(run, call=replace(run.call, kind=RunKind.EAGER if eager else RunKind.FUNCTION))


@pytest.mark.parametrize("eager", [(False, True), (True, False), (True, True)])
def test_what_is_read_behind_an_update_follows_from_what_was_written(eager: tuple[bool, bool]) -> None:
    first, second = (_counted(eager=one, off=0.4 * number) for number, one in enumerate(eager))
    found = compared_runs(first, second)
    states = {found.runs[0].tensors[one.rows[0]].node: one.state for one in found.verdicts}
    assert states["read"] is not TensorFate.NEW, states


def test_a_shape_that_was_known_when_it_was_traced_is_beside_no_other_shape() -> None:
    def run(kind: RunKind, *shape: Op) -> Run:
        made = made_run(op("x", "Placeholder", value=GRADIENT), *shape, op("y", "Exp", "x", value=np.exp(GRADIENT)))
        return replace(made, call=replace(made.call, kind=kind))

    traced = run(RunKind.FUNCTION, op("tape/Shape_1", "Const", value=np.array([64, 32])))
    eager = run(RunKind.EAGER, op("tape/Shape_1", "Shape", "x", value=np.array([64, 5])))
    found = compared_runs(traced, eager)
    assert found.same and found.pairs.only_first and found.pairs.only_second
    changed = run(RunKind.FUNCTION, op("tape/Shape_1", "Const", value=np.array([64, 5])))
    assert not compared_runs(traced, changed).same, "two constants are"


@pytest.mark.parametrize(("eager", "told"), [(False, True), (True, False)])
def test_attributes_of_eager_ops_that_nobody_named_do_not_differ(eager: bool, told: bool) -> None:
    def run(kind: RunKind, value: float, **attributes: str) -> Run:
        made = made_run(op("x", "Placeholder", value=GRADIENT), op("y", "Foo", "x", value=[value], **attributes))
        return replace(made, call=replace(made.call, kind=kind))

    other = RunKind.EAGER if eager else RunKind.FUNCTION
    one, two = run(RunKind.FUNCTION, 1.0, T="float32", transpose="True"), run(other, 2.0, T="1")
    shown = " ".join(Prompt(Opened("case", [one, two])).show("diff 1 2", 200).split())
    assert ("T is float32 in A and 1 in B" in shown) is told
    assert ("transpose is True in A and not set in B" in shown) is told
