"""Numbers that were made of a NaN, which the program leaves out, or lets out: no TensorFlow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import NAN, Op, made_run, op

from tfdbg_cli.analysis.origin.benign import judged

SHARES = np.array([[0.25, 0.75], [NAN, NAN], [0.5, 0.5]], np.float32)
KEPT = np.array([True, False, True])
GUESS = np.array([1, 0, 0])
RIGHT = np.array([True, True, False])
FLOATS = {name: value.astype(np.float32) for name, value in (("kept", KEPT), ("right", RIGHT))}


def _harm(*nodes: Op) -> str:
    """What is said of a metric of rows, of which the second one is padding: what the last one of `nodes` gives."""
    run = made_run(
        op("x", "Placeholder", value=np.zeros((3, 2), np.float32)),
        op("kept", "Placeholder", value=KEPT), op("labels", "Placeholder", value=np.array([1, 0, 1])),
        op("weights", "Cast", "kept", value=FLOATS["kept"]),
        op("shares", "RealDiv", "x", "x", value=SHARES), op("axis", "Const", value=np.int32(1)),
        op("zeroth", "Const", value=np.int32(0)),
        op("guess", "ArgMax", "shares", "axis", value=GUESS),
        op("right", "Equal", "guess", "labels", value=RIGHT),
        *nodes,
        op("y", "Identity", nodes[-1].name, value=nodes[-1].values[0]),
    )  # fmt: skip
    harm = judged(replace(run, call=replace(run.call, fetches=("y:0",)))).harm
    return harm.text if harm else ""


LEFT_OUT = {
    "multiplied by 0": (
        op("as_number", "Cast", "right", value=FLOATS["right"]),
        op("masked", "Mul", "as_number", "weights", value=FLOATS["right"] * FLOATS["kept"]),
        op("sum", "Sum", "masked", "axis", value=np.float32(1)),
    ),
    "decided by the other side": (op("both", "LogicalAnd", "right", "kept", value=RIGHT & KEPT),),
    "not chosen": (
        op("none", "Const", value=np.array([-1, -1, -1])),
        op("chosen", "SelectV2", "kept", "guess", "none", value=np.where(KEPT, GUESS, -1)),
    ),
    "not gathered": (
        op("rows", "Const", value=np.array([0, 2])), op("zero", "Const", value=np.int32(0)),
        op("left", "GatherV2", "guess", "rows", "zero", value=GUESS[[0, 2]]),
    ),
    "the rows of a sort": (
        op("column", "Reshape", "kept", "axis", value=KEPT[:, np.newaxis]),
        op("none", "Const", value=np.zeros((3, 2), np.float32)),
        op("above", "Greater", "shares", "none", value=np.array([[True, True], [False, False], [True, True]])),
        op("kept_ones", "LogicalAnd", "above", "column", value=np.array([[1, 1], [0, 0], [1, 1]], bool)),
    ),
    "beyond a slice": (
        op("from", "Const", value=np.array([0])), op("to", "Const", value=np.array([1])),
        op("step", "Const", value=np.array([1])),
        op("left", "StridedSlice", "guess", "from", "to", "step", value=GUESS[:1]),
    ),
    "beside a slice": (
        op("from", "Const", value=np.array([2])), op("size", "Const", value=np.array([1])),
        op("left", "Slice", "guess", "from", "size", value=GUESS[-1:]),
    ),
    "in no segment": (
        op("segments", "Const", value=np.array([0, -1, 1])), op("count", "Const", value=np.int32(2)),
        op("left", "UnsortedSegmentSum", "guess", "segments", "count", value=GUESS[[0, 2]]),
    ),
    "a segment of its own": (
        op("segments", "Const", value=np.array([0, 1, 0])), op("count", "Const", value=np.int32(2)),
        op("sums", "UnsortedSegmentSum", "guess", "segments", "count", value=np.array([1, 0])),
        op("rows", "Const", value=np.array([0])), op("zero", "Const", value=np.int32(0)),
        op("left", "GatherV2", "sums", "rows", "zero", value=np.array([1])),
    ),
    "adds 0 to a table": (
        op("pairs", "Pack", "labels", "guess", axis="1", value=np.stack([[1, 0, 1], GUESS], 1)),
        op("size", "Const", value=np.array([2, 2])),
        op("table", "ScatterNd", "pairs", "weights", "size", value=np.array([[0, 0], [1, 1]], np.float32)),
    ),
    "counts with the weight 0": (
        op("size", "Const", value=np.int32(2)),
        op("counts", "DenseBincount", "guess", "size", "weights", value=np.array([1, 1], np.float32)),
    ),
    "another column": (
        op("both", "ConcatV2", "guess", "labels", "zeroth", value=np.array([1, 0, 0, 1, 0, 1])),
        op("two", "Const", value=np.array([2, 3])),
        op("rows", "Reshape", "both", "two", value=np.array([[1, 0, 0], [1, 0, 1]])),
        op("order", "Const", value=np.array([1, 0])),
        op("columns", "Transpose", "rows", "order", value=np.array([[1, 1], [0, 0], [0, 1]])),
        op("second", "Const", value=np.array([1])), op("along", "Const", value=np.int32(1)),
        op("left", "GatherV2", "columns", "second", "along", value=np.array([[1], [0], [1]])),
    ),
}  # fmt: skip
LET_OUT = {
    "no mask": (op("number", "Cast", "right", value=FLOATS["right"]),),
    "a sum before the mask": (
        op("as_number", "Cast", "right", value=FLOATS["right"]),
        op("sum", "Sum", "as_number", "axis", value=np.float32(2)),
        op("masked", "Mul", "sum", "weights", value=2 * FLOATS["kept"]),
    ),
    "another mask": (
        op("other", "Const", value=np.array([True, True, False])),
        op("both", "LogicalAnd", "right", "other", value=np.array([True, True, False])),
    ),
    "gathered": (
        op("rows", "Const", value=np.array([0, 1])), op("zero", "Const", value=np.int32(0)),
        op("left", "GatherV2", "guess", "rows", "zero", value=GUESS[:2]),
    ),
    "what asks for it": (
        op("one", "Const", value=np.zeros(3, np.float32)), op("two", "Const", value=np.ones(3, np.float32)),
        op("chosen", "SelectV2", "right", "one", "two", value=np.where(RIGHT, 0, 1).astype(np.float32)),
    ),
    "within a slice": (
        op("from", "Const", value=np.array([1])), op("to", "Const", value=np.array([0])),
        op("step", "Const", value=np.array([1])),
        op("left", "StridedSlice", "guess", "from", "to", "step", end_mask="1", value=GUESS[1:]),
    ),
    "in a segment": (
        op("segments", "Const", value=np.array([0, 0, 1])), op("count", "Const", value=np.int32(2)),
        op("left", "UnsortedSegmentSum", "guess", "segments", "count", value=np.array([1, 0])),
    ),
    "adds 1 to a table": (
        op("pairs", "Pack", "labels", "guess", axis="1", value=np.stack([[1, 0, 1], GUESS], 1)),
        op("size", "Const", value=np.array([2, 2])), op("ones", "Const", value=np.ones(3)),
        op("table", "ScatterNd", "pairs", "ones", "size", value=np.array([[1, 0], [1, 1]])),
    ),
    "a sum": (op("sum", "Sum", "guess", "zeroth", value=np.array(1)),),
    "an op that nobody follows": (op("found", "OpOfNobodyKnown", "right", "kept", value=np.array([0, 2])),),
}  # fmt: skip


@pytest.mark.parametrize("how", LEFT_OUT)
def test_what_is_masked_afterwards_does_no_harm(how: str) -> None:
    """A blind test: masked accuracies stopped a watch, though rows of padding alone were NaN."""
    assert _harm(*LEFT_OUT[how]) == ""


@pytest.mark.parametrize(("limit", "harm"), [(np.inf, False), (-np.inf, False), (1e30, True)])
def test_what_is_compared_with_infinity_is_asked_on_purpose(limit: float, harm: bool) -> None:
    """A blind test: tf.where(tf.abs(p) < inf, p, 0) stopped a watch."""
    run = made_run(
        op("x", "Placeholder", value=[1.0, -1.0]), op("log", "Log", "x", value=[0.0, NAN]),
        op("size", "Abs", "log", value=[0.0, NAN]), op("limit", "Const", value=limit),
        op("asked", "Less", "size", "limit", value=np.array([True, False])),
        op("none", "Const", value=0.0), op("y", "SelectV2", "asked", "log", "none", value=[0.0, 0.0]),
    )  # fmt: skip
    assert bool(judged(run).harm) is harm


@pytest.mark.parametrize("how", LET_OUT)
def test_what_gets_out_does(how: str) -> None:
    assert _harm(*LET_OUT[how]).startswith("guess makes a number out of NaN")


@pytest.mark.parametrize(
    ("op_type", "value"),
    [("Dilation2D", [1.0, 2.0]), ("TensorScatterMax", [1.0, 2.0]), ("SparseReduceMax", [2.0])],
)
def test_ops_that_give_the_larger_of_two(op_type: str, value: Any) -> None:
    run = made_run(
        op("x", "Placeholder", value=[1.0, -1.0]), op("log", "Log", "x", value=[0.0, NAN]),
        op("y", op_type, "log", "x", value=value),
    )  # fmt: skip
    assert judged(run).harm


@pytest.mark.parametrize(("taken", "harm"), [(slice(0, 2), True), (slice(2, 4), False)])
def test_a_sort_puts_healthy_numbers_to_wrong_places(taken: slice, harm: bool) -> None:
    """A blind test: the two smallest of four were written, and nothing was said to come of the NaN among these."""
    value = np.array([[0.7, 1.8, NAN, 1.4], [0.1, 0.2, 0.3, 0.4]], np.float32)
    rows = np.array([0]) if harm else np.array([1])
    run = made_run(
        op("x", "Placeholder", value=np.abs(value)), op("log", "Log", "x", value=value),
        op("k", "Const", value=np.int32(4)), op("sorted", "TopKV2", "log", "k", value=value),
        op("rows", "Const", value=rows), op("zero", "Const", value=np.int32(0)),
        op("row", "GatherV2", "sorted", "rows", "zero", value=value[rows]),
        op("y", "StridedSlice", "row", value=value[rows][:, taken] if harm else value[rows]),
    )  # fmt: skip
    assert bool(judged(run).harm) is harm


@pytest.mark.parametrize("counted", [True, False])
def test_what_one_reader_masks_another_may_count(counted: bool) -> None:
    """A blind test: a tf.where chose other numbers for the NaN, and a comparison beside it counted it."""
    logs = np.array([0.0, NAN, 1.1], np.float32)
    right = np.array([True, False, True])
    run = made_run(
        op("x", "Placeholder", value=np.array([1.0, -5.0, 3.0], np.float32)), op("log", "Log", "x", value=logs),
        op("zero", "Const", value=np.float32(0)), op("above", "Greater", "x", "zero", value=right),
        op("large", "Greater", "log", "zero", value=right & (logs > 0)),
        op("asked", "LogicalAnd", "above", "large", value=right & (logs > 0)),
        op("masked", "SelectV2", "above" if counted else "asked", "log", "zero", value=np.where(right, logs, 0)),
        op("y", "Cast" if counted else "Identity", "large" if counted else "masked", value=np.float32([0, 0, 1])),
    )  # fmt: skip
    run = replace(run, call=replace(run.call, fetches=("masked:0", "y:0")))
    harm = judged(run).harm
    assert (harm.text if harm else "").startswith("large makes a number out of NaN") is counted
