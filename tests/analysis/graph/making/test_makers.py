"""What an operand is, as far as the suggestion depends on it, told by the ops that made it."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.makers import Maker, maker_of


@pytest.mark.parametrize(
    ("nodes", "kind"),
    [
        ((op("e", "Exp", "x"), op("made", "Sum", "e")), Maker.EXPONENTIALS),
        ((op("e", "Exp", "x"), op("s", "Sum", "e"), op("made", "Reshape", "s")), Maker.EXPONENTIALS),
        ((op("e", "Exp", "x"), op("m", "Mul", "w", "e"), op("made", "Sum", "m")), Maker.WEIGHTED_EXPONENTIALS),
        (
            (op("e", "Exp", "x"), op("q", "RealDiv", "e", "s"), op("m", "Mul", "w", "q"), op("made", "Sum", "m")),
            Maker.WEIGHTED_EXPONENTIALS,
        ),
        (
            (
                op("e", "Exp", "x"),
                op("t", "Sum", "e"),
                op("q", "RealDiv", "e", "t"),
                op("m", "Mul", "w", "q"),
                op("made", "Sum", "m"),
            ),
            Maker.OTHER,
        ),
        ((op("l", "Log", "x"), op("m", "Mul", "w", "l"), op("made", "Sum", "m")), Maker.OTHER),
        ((op("e", "Square", "x"), op("made", "Sum", "e")), Maker.SQUARED_NORM),
        ((op("m", "Greater", "x"), op("c", "Cast", "m"), op("made", "Sum", "c")), Maker.FREQUENCY),
        ((op("m", "LogicalNot", "x"), op("c", "Cast", "m"), op("made", "Mean", "c")), Maker.FREQUENCY),
        ((op("e", "Exp", "x"), op("made", "Mean", "e")), Maker.OTHER),
        ((op("made", "UnsortedSegmentSum", "x", "ids", "count"),), Maker.SEGMENTS),
    ],
    ids=[
        "exponentials",
        "reshaped",
        "weighted",
        "mixture",
        "shares",
        "weighted logarithms",
        "squares",
        "how often",
        "share of a mask",
        "mean",
        "segments",
    ],
)
def test_sums_by_what_they_are_of(nodes: tuple[Op, ...], kind: Maker) -> None:
    run = made_run(op("x", "Placeholder"), op("ids", "Const"), op("count", "Const"), *nodes)
    assert maker_of(run.graph.find("made"), Lineage(run)) is kind


@pytest.mark.parametrize(
    ("nodes", "kind"),
    [
        ((op("made", "ReadVariableOp", "adam/iteration", dtype="int64"),), Maker.COUNTER),
        ((op("r", "ReadVariableOp", "adam/iteration", dtype="int64"), op("made", "Cast", "r")), Maker.COUNTER),
        (
            (
                op("r", "ReadVariableOp", "adam/iteration", dtype="int64"),
                op("c", "Cast", "r"),
                op("made", "Sqrt", "c"),
            ),
            Maker.COUNTER,
        ),
        ((op("r", "ReadVariableOp", "x", dtype="float16"), op("made", "Cast", "r")), Maker.VARIABLE),
        ((op("made", "ReadVariableOp", "x", dtype="int64"),), Maker.VARIABLE),
        (
            (op("add", "AssignAddVariableOp", "x", "one"), op("made", "ReadVariableOp", "x", dtype="int64")),
            Maker.COUNTER,
        ),
        (
            (
                op("found", "Sum", "data"),
                op("add", "AssignAddVariableOp", "x", "found"),
                op("made", "ReadVariableOp", "x", dtype="int64"),
            ),
            Maker.VARIABLE,
        ),
    ],
    ids=["read", "cast", "root", "half", "nobody counts", "one more each time", "counts data"],
)
def test_a_variable_of_whole_numbers_counts(nodes: tuple[Op, ...], kind: Maker) -> None:
    variables = op("x", "VarHandleOp"), op("adam/iteration", "VarHandleOp")
    run = made_run(*variables, op("one", "Const"), op("data", "Placeholder"), *nodes)
    assert maker_of(run.graph.find("made"), Lineage(run)) is kind


@pytest.mark.parametrize(("step", "kind"), [(0, Maker.COUNTER), (1000, Maker.OTHER)])
def test_what_is_made_of_the_number_of_a_step_alone(step: int, kind: Maker) -> None:
    run = made_run(
        op("step", "VarHandleOp"),
        op("read", "ReadVariableOp", "step", dtype="int64", value=np.array(step)),
        op("n", "Cast", "read", value=float(step)),
        op("rate", "Const", value=0.9),
        op("one", "Const", value=1.0),
        op("power", "Pow", "rate", "n", value=0.9**step),
        op("made", "Sub", "one", "power", value=1 - 0.9**step),
        op("x", "Placeholder", value=2.0),
        op("other", "Mul", "n", "x", value=2.0 * step),
    )
    assert maker_of(run.graph.find("made"), Lineage(run)) is kind
    assert maker_of(run.graph.find("other"), Lineage(run)) is Maker.OTHER, "data are in it"


def test_sums_of_sums_take_few_steps() -> None:
    sums = [op(f"s{at + 1}", "AddV2", f"s{at}", f"s{at}") for at in range(60)]
    run = made_run(op("step", "VarHandleOp"), op("s0", "ReadVariableOp", "step", dtype="int64"), *sums)
    assert maker_of(run.graph.find("s60"), Lineage(run)) is Maker.OTHER


@pytest.mark.parametrize(
    ("one", "kind"), [("Const", Maker.SIGMOID), ("Placeholder", Maker.SIGMOID), ("Exp", Maker.OTHER)]
)
def test_the_rest_of_a_sigmoid_is_made_of_it_op_by_op_too(one: str, kind: Maker) -> None:
    """Op by op the 1 of `1 - p` is no constant of a graph: it comes in."""
    run = made_run(op("x", "Placeholder"), op("one", one), op("p", "Sigmoid", "x"), op("made", "Sub", "one", "p"))
    assert maker_of(run.graph.find("made"), Lineage(run)) is kind


@pytest.mark.parametrize(
    ("axes", "kind"), [((1, 1), Maker.SHIFTED_EXPONENTIALS), ((0, 1), Maker.EXPONENTIALS)], ids=["alike", "others"]
)
def test_exponentials_of_what_is_less_its_maximum_along_the_same_axes(axes: tuple[int, int], kind: Maker) -> None:
    run = made_run(
        op("x", "Placeholder", value=[[-INF, -INF]]), op("zero", "Const", value=0.0),
        op("one", "Const", value=np.array(axes[0])), op("other", "Const", value=np.array(axes[1])),
        op("max", "Max", "x", "one", value=[[-INF]]), op("finite", "IsFinite", "max", value=np.array([[False]])),
        op("shift", "SelectV2", "finite", "max", "zero", value=[[0.0]]), op("stop", "StopGradient", "shift"),
        op("less", "Sub", "x", "stop", value=[[-INF, -INF]]), op("e", "Exp", "less", value=[[0.0, 0.0]]),
        op("sum", "Sum", "e", "other", value=[0.0]),
    )  # fmt: skip
    assert maker_of(run.graph.node("sum"), Lineage(run)) is kind
