"""What stands beside a batch row for row, where a program gives its data to ops one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.components import components
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.commands.views.origin.batch import batch_lines
from tfdbg_cli.model.calls import RunKind

X = np.array([[1, 2], [3, 4], [0, 0], [5, 6]], np.float32)
Y = np.array([10, 11, 12, 13], np.float32)
ORDER = np.array([3, 2, 1, 0], np.int32)  # its row 1 is row 2 of what it puts in order
BAD = np.array([1, INF, 1, 1], np.float32)  # row 1, which is row 2 before


def _shown(*ops: Op, **given: object) -> set[str]:
    """The components of the batch of an eager run that was `given` values."""
    ordered = (op(name, "Placeholder") for name in given)
    run = made_run(*ordered, *ops, feeds={f"{name}:0": value for name, value in given.items()})
    run = replace(run, call=replace(run.call, kind=RunKind.EAGER))
    origin = OriginSearch(run).first()
    assert origin is not None and origin.batch.rows
    return {part.name for part in components(run, origin.batch)}


def _gather(name: str, table: str, indices: str, value: object) -> Op:
    return op(name, "GatherV2", table, indices, "axis", value=value)


AXIS = op("axis", "Const", value=np.array(0, np.int32))
MEAN = op("mean", "Max", "moved", "last", value=np.array([6, 0, 4, 2]))
LAST = op("last", "Const", value=np.array(1, np.int32))


def test_labels_in_the_same_order_are_shown_and_the_order_is_not() -> None:
    shown = _shown(
        AXIS,
        LAST,
        _gather("moved", "x", "order", X[ORDER]),
        _gather("labels", "y", "order", Y[ORDER]),
        MEAN,
        op("ratio", "RealDiv", "labels", "mean", value=BAD),
        x=X,
        y=Y,
        order=ORDER,
    )
    assert shown == {"x:0", "y:0"}


@pytest.mark.parametrize("before", [False, True])
def test_labels_in_an_order_of_their_own_are_not_shown(before: bool) -> None:
    """Also where another op, which keeps their order, was first."""
    labels = "cast" if before else "y"
    shown = _shown(
        AXIS,
        LAST,
        _gather("moved", "x", "order", X[ORDER]),
        op("cast", "Cast", "y", value=Y),
        op("axes", "Const", value=np.array([0], np.int32)),
        op("labels", "Roll", labels, "shift", "axes", value=np.roll(Y, 1)),
        MEAN,
        op("ratio", "RealDiv", "labels", "mean", value=BAD),
        x=X,
        y=Y,
        order=ORDER,
        shift=np.array([1], np.int32),
    )
    assert "y:0" not in shown


def test_labels_that_are_mixed_with_those_of_other_rows_are_shown() -> None:
    """As mixup does: they meet the batch in its order, too."""
    shown = _shown(
        AXIS,
        op("log", "Log", "x", value=X),
        _gather("others", "y", "order", Y[ORDER]),
        op("column", "Reshape", "y", "shape", value=Y.reshape(4, 1)),
        op("shape", "Const", value=np.array([4, 1], np.int32)),
        op("ratio", "RealDiv", "column", "log", value=np.where(X == 0, INF, 1)),
        x=X,
        y=Y,
        order=ORDER,
    )
    assert shown == {"x:0", "y:0"}


def test_the_order_of_labels_alone_is_not_shown_either() -> None:
    shown = _shown(
        AXIS,
        _gather("labels", "y", "order", Y[ORDER]),
        op("log", "Log", "x", value=np.where(X == 0, INF, 1)),
        x=X,
        y=Y,
        order=ORDER,
    )
    assert "order:0" not in shown


def test_ids_that_look_up_rows_of_a_parameter_are_shown() -> None:
    table = op("table", "Const", value=np.ones((9, 2)))
    shown = _shown(
        AXIS,
        table,
        _gather("embedded", "table", "ids", np.ones((4, 2))),
        op("ratio", "RealDiv", "embedded", "x", value=np.where(X == 0, INF, 1)),
        x=X,
        ids=np.array([8, 0, 2, 2], np.int32),
    )
    assert shown == {"x:0", "ids:0"}


def test_weights_with_as_many_rows_as_the_batch_are_not_shown() -> None:
    product = op("product", "MatMul", "square", "weights", value=np.zeros((4, 2)))
    shown = _shown(
        product,
        op("log", "Log", "product", value=np.full((4, 2), INF)),
        square=np.zeros((4, 4), np.float32),
        weights=np.ones((4, 2), np.float32),
    )
    assert shown == {"square:0"}


def test_the_first_value_of_a_variable_is_not_shown() -> None:
    shown = _shown(
        op("handle", "VarHandleOp"),
        op("assign", "AssignVariableOp", "handle", "initial"),
        op("log", "Log", "x", value=np.where(X == 0, INF, 1)),
        x=X,
        initial=np.ones((4, 2), np.float32),
    )
    assert shown == {"x:0"}


@pytest.mark.parametrize("cut", ["sliced", "sorted", "across"])
def test_what_is_used_otherwise_than_by_rows_is_not_shown(cut: str) -> None:
    """Labels that are cut and joined anew, or sorted; a vector beside a square matrix, which is of its columns."""
    square = np.ones((4, 4), np.float32)
    made = {
        "sliced": (
            op("front", "Slice", "y", "zero", "two", value=Y[:2]),
            op("back", "Slice", "y", "two", "two", value=Y[2:]),
            op("zero", "Const", value=np.array([0], np.int32)),
            op("two", "Const", value=np.array([2], np.int32)),
            AXIS,
            op("labels", "ConcatV2", "back", "front", "axis", value=np.roll(Y, 2)),
        ),
        "sorted": (op("labels", "TopKV2", "y", "k", value=Y[::-1]), op("k", "Const", value=np.array(4, np.int32))),
        "across": (op("square", "Const", value=square), op("labels", "Mul", "square", "y", value=square * Y)),
    }[cut]
    assert _shown(*made, op("log", "Log", "x", value=np.where(X == 0, INF, 1)), x=X, y=Y) == {"x:0"}


def test_arguments_of_one_call_are_shown_unless_the_call_puts_them_in_another_order() -> None:
    for reversed_too, shown in ((False, {"x", "y"}), (True, {"x"})):
        moved = op("moved", "ReverseV2", "y", "axes", value=Y[::-1])
        run = made_run(
            op("x", "Placeholder", value=X),
            op("y", "Placeholder", value=Y),
            op("axes", "Const", value=np.array([0], np.int32)),
            *([moved] if reversed_too else []),
            op("log", "Log", "x", value=np.where(X == 0, INF, 1)),
            feeds={"x": X, "y": Y},
        )
        run = replace(run, call=replace(run.call, kind=RunKind.FUNCTION))
        origin = OriginSearch(run).first()
        assert origin is not None
        assert {part.name for part in components(run, origin.batch)} == shown


def test_labels_of_the_looked_up_rows_are_none_of_the_table() -> None:
    """A table with as many rows as the batch: its row 2 was looked up as row 1, whose label is another one."""
    shown = _shown(
        AXIS,
        _gather("moved", "x", "order", X[ORDER]),
        op("log", "Log", "moved", value=np.where(X[ORDER] == 0, INF, 1)),
        op("column", "Reshape", "y", "shape", value=Y.reshape(4, 1)),
        op("shape", "Const", value=np.array([4, 1], np.int32)),
        op("loss", "Mul", "log", "column", value=np.where(X[ORDER] == 0, INF, 1)),
        x=X,
        y=Y,
        order=ORDER,
    )
    assert shown == {"x:0"}


def test_what_nothing_is_known_of_is_shown() -> None:
    """Labels that no op has met yet, as in a loss that was not reached."""
    log = op("log", "Log", "x", value=np.where(X == 0, INF, 1))
    assert _shown(log, x=X, y=Y) == {"x:0", "y:0"}


def test_what_an_earlier_run_computed_is_no_data_beside_the_batch() -> None:
    """A blind test: the state of a loop was "fed as h, x", and its rows stood among those of the batch."""
    x, h = np.ones((4, 2), np.float32), np.zeros((4, 2), np.float32)
    run = made_run(
        op("x", "Placeholder", value=x), op("h", "Placeholder", value=h), op("sum", "AddV2", "x", "h", value=x + h),
        feeds={"x": x, "h": h},
    )  # fmt: skip
    call = replace(run.call, kind=RunKind.EAGER, carried={"h": 6})
    batch = BatchRows((2,), "h:0", 4)
    (shown,) = batch_lines(replace(run, call=call), batch)
    assert shown.text.endswith("row 2 of 4; fed as x")
    assert [part.name for part in components(replace(run, call=call), batch)] == ["x"]
    alone = replace(call, feeds={"h": h})
    (shown,) = batch_lines(replace(run, call=alone), batch)
    assert shown.text.endswith("row 2 of 4; as run #6 computed h")
