"""Rules asked of one run: gradients without the loss scale, and what another rule says already."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named
from tfdbg_cli.analysis.watch.judging import Judging
from tfdbg_cli.model.rules import Rule
from tfdbg_cli.model.runs import Run

NAN = float("nan")


def _step(*unscaled: Op, gradient: float = 3e4) -> Run:
    """A training step whose loss is multiplied by a scale; `unscaled` is what comes of the gradient."""
    return made_run(
        op("x", "Placeholder", value=np.ones((1, 1))),
        op("w", "VarHandleOp"),
        op("scale", "VarHandleOp"),
        op("w/read", "ReadVariableOp", "w", value=np.ones((1, 1))),
        op("scale/read", "ReadVariableOp", "scale", value=np.float32(32768.0)),
        op("scale/cast", "Cast", "scale/read", value=np.float32(32768.0)),
        op("MatMul", "MatMul", "x", "w/read", value=np.ones((1, 1))),
        op("loss", "Mul", "MatMul", "scale/cast", value=np.ones((1, 1))),
        op("gradient_tape/loss/Mul", "Mul", "x", "scale/cast", value=np.ones((1, 1))),
        op("gradient_tape/MatMul", "MatMul", "x", "gradient_tape/loss/Mul", value=np.array([[gradient]])),
        *unscaled,
        op("rate", "Const", value=np.float32(0.1)),
        op("step", "Mul", "rate", unscaled[-1].name, value=np.ones((1, 1))),
        op("assign", "AssignSubVariableOp", "w", "step"),
        op("w/after_update", "UpdatedVariable", "w", value=np.array([[gradient]])),
    )


DIVIDED = (
    op("again", "ReadVariableOp", "scale", value=np.float32(32768.0)),
    op("truediv", "RealDiv", "gradient_tape/MatMul", "again", value=np.array([[0.9]])),
)
MULTIPLIED = (
    op("one", "Const", value=np.float32(1.0)),
    op("inverse", "RealDiv", "one", "scale/read", value=np.float32(1 / 32768.0)),
    op("mean", "CollectiveReduceV2", "gradient_tape/MatMul", value=np.array([[3e4]])),
    op("truediv", "Mul", "mean", "inverse", value=np.array([[0.9]])),
)
CLIPPED = (
    op("limit", "ReadVariableOp", "most", value=np.float32(2.0)),
    op("truediv", "RealDiv", "gradient_tape/MatMul", "limit", value=np.array([[0.9]])),
)


def _passed(run: Run, *rules: Rule) -> list[list[str]]:
    judging = Judging(run)
    judged = [judging.ask(rule, filter_named(BUILT_IN_FILTERS, rule.filter_name)).passed for rule in rules]
    return [[str(run.tensors[index].name) for index in passed] for passed in judged]


@pytest.mark.parametrize("unscaled", [DIVIDED, MULTIPLIED], ids=["divided", "multiplied"])
def test_a_gradient_is_judged_without_the_loss_scale(unscaled: tuple[Op, ...]) -> None:
    rules = Rule("exploding_gradient"), Rule("exploding_gradient:0.5"), Rule("vanishing_gradient:1")
    assert _passed(_step(*unscaled), *rules) == [[], ["truediv:0"], ["truediv:0"]]
    judged = Judging(run := _step(*unscaled)).ask(rules[1], filter_named(BUILT_IN_FILTERS, rules[1].filter_name))
    assert [str(name) for name in judged.scaled.values()] == ["gradient_tape/MatMul:0"]
    assert _passed(run, Rule("exploding_gradient:0.5", only="^gradient_tape/")) == [["truediv:0"]], "by its own name"


def test_what_divides_a_gradient_and_does_not_scale_the_loss_is_no_loss_scale() -> None:
    assert _passed(_step(*CLIPPED), Rule("exploding_gradient")) == [["gradient_tape/MatMul:0"]]


def test_where_the_scale_skips_the_update_gradients_are_judged_as_they_are_if_no_rule_about_nan_tells() -> None:
    skipped = tuple(op(one.name, one.op_type, *one.inputs) for one in DIVIDED)
    run = _step(*skipped, gradient=INF)
    assert _passed(run, Rule("exploding_gradient")) == [["gradient_tape/MatMul:0"]]
    assert _passed(run, Rule("has_inf_or_nan"), Rule("exploding_gradient"))[1] == []


def test_a_nan_is_told_by_the_rule_about_nan_alone() -> None:
    run = made_run(
        op("x", "Placeholder", value=np.ones((1, 2))),
        op("w", "VarHandleOp"),
        op("w/read", "ReadVariableOp", "w", value=np.full((1, 2), NAN)),
        op("Relu", "Relu", "w/read", value=np.full((1, 2), NAN)),
        op("gradient_tape/Mul", "Mul", "x", "Relu", value=np.full((1, 2), NAN)),
        op("gradient_tape/Mul_1", "Mul", "x", "Relu", value=np.array([[INF, 1.0]])),
        op("assign", "AssignSubVariableOp", "w", "gradient_tape/Mul"),
        op("w/after_update", "UpdatedVariable", "w", value=np.full((1, 2), NAN)),
    )
    others = Rule("exploding_gradient"), Rule("unchanged_variable"), Rule("dead_relu")
    gradients = ["gradient_tape/Mul:0", "gradient_tape/Mul_1:0"]
    assert _passed(run, *others) == [gradients, ["w/after_update:0"], ["Relu:0"]]
    assert _passed(run, Rule("has_nan"), *others)[1:] == [gradients[1:], [], []]
    assert _passed(run, Rule("has_nan", exclude="Relu"), *others)[1:] == [gradients[1:], [], ["Relu:0"]]


@pytest.mark.parametrize("with_gradients", [True, False])
def test_a_counter_may_stay_as_it_was_and_a_weight_may_not(with_gradients: bool) -> None:
    """A blind test: a batch without a hit left the total of the accuracy as it was, and the job ended with code 3."""
    weight, total = op("weight", "VarHandleOp"), op("total", "VarHandleOp")
    slope = "gradient_tape/slope" if with_gradients else "slope"
    step = made_run(
        weight, total,
        op("w", "ReadVariableOp", "weight", value=[2.0]),
        op("product", "Mul", "w", "x", value=[4.0]),
        op(slope, "Mul", "product", "x", value=[0.0]),
        op("update", "AssignSubVariableOp", "weight", slope),
        op("weight/after_update", "UpdatedVariable", "weight", slope, value=[2.0], control=("update",)),
        op("t", "ReadVariableOp", "total", value=[5.0]),
        op("sum", "AddV2", "t", "hits", value=[5.0]),
        op("count", "AssignVariableOp", "total", "sum"),
        op("total/after_update", "UpdatedVariable", "total", "sum", value=[5.0], control=("count",)),
        op("scale", "VarHandleOp"),
        op("finite", "IsFinite", slope, value=[True]),
        op("next", "SelectV2", "finite", "s", "s", value=[8.0]),
        op("set", "AssignVariableOp", "scale", "next"),
        op("s", "ReadVariableOp", "scale", value=[8.0]),
        op("scale/after_update", "UpdatedVariable", "scale", "next", value=[8.0], control=("set",)),
    )  # fmt: skip
    expected = [
        "weight/after_update:0",
        *([] if with_gradients else ["total/after_update:0", "scale/after_update:0"]),
    ]
    assert _passed(step, Rule("unchanged_variable")) == [expected]
