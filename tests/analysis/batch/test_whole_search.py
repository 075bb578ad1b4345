"""Rows that a program takes one by one, outside of loops: what is made of one alone is of that row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.origin.search import OriginSearch

X = np.arange(1, 16, dtype=np.float32).reshape(5, 3)
ROW = np.ones(3, np.float32)
AXIS = op("axis", "Const", value=np.array([0]))


def _batch(*ops: Op, **given: Any) -> BatchRows:
    """What is told of the batch behind the origin of `ops`, which are given x and what `given` says; none is shown.

    Of ops of one name the first counts.
    """
    feeds = {f"{name}:0": value for name, value in {"x": X, **given}.items()}
    placeholders = [op(name.partition(":")[0], "Placeholder") for name in feeds]
    origin = OriginSearch(made_run(*{one.name: one for one in (*placeholders, *ops)}.values(), feeds=feeds)).first()
    assert origin is not None
    return origin.batch


def _numbers(name: str, *numbers: int) -> Op:
    return op(name, "Const", value=np.array(numbers))


def _taken(place: int, name: str = "", of: str = "x", value: Any = ROW) -> tuple[Op, ...]:
    """x[place], called `name` or else row0, row1, …"""
    ends = _numbers(f"at{place}", place), _numbers(f"to{place}", place + 1), _numbers(f"by{place}", 1)
    edges = (of, *(end.name for end in ends))
    return (*ends, op(name or f"row{place}", "StridedSlice", *edges, shrink_axis_mask="1", value=value))


def _log_of_sum(of: str, *others: str) -> tuple[Op, ...]:
    """The logarithm of the sum of a row, which is 0; `others` are multiplied with the row."""
    read, made = of, list[Op]()
    for at, other in enumerate(others):
        made.append(op(f"mul{at}", "Mul", read, other, value=ROW))
        read = f"mul{at}"
    return (*made, AXIS, op("sum", "Sum", read, "axis", value=np.float32(0)), op("log", "Log", "sum", value=-INF))


NEW = {"shrink_axis_mask": "2", "new_axis_mask": "1"}
REST = {"shrink_axis_mask": "1", "ellipsis_mask": "2"}
CUTS = {
    "x[3]": _taken(3),
    "x[-2]": _taken(-2, "row3"),
    "x[newaxis, 3]": (
        _numbers("b", 0, 3), _numbers("e", 1, 4), _numbers("s", 1, 1),
        op("row3", "StridedSlice", "x", "b", "e", "s", value=ROW[None], **NEW),
    ),
    "x[3, ...]": (
        _numbers("b", 3, 0), _numbers("e", 4, 0), _numbers("s", 1, 1),
        op("row3", "StridedSlice", "x", "b", "e", "s", value=ROW, **REST),
    ),
    "slice": (_numbers("b", 3, 0), _numbers("n", 1, 3), op("row3", "Slice", "x", "b", "n", value=ROW[None])),
    "gather": (
        op("i", "Const", value=np.array(3)), op("along", "Const", value=np.array(0)),
        op("row3", "GatherV2", "x", "i", "along", value=ROW),
    ),
    "gather_nd": (_numbers("i", 3), op("row3", "GatherNd", "x", "i", value=ROW)),
}  # fmt: skip


@pytest.mark.parametrize("cut", CUTS)
def test_the_sum_of_one_row_is_of_that_row(cut: str) -> None:
    found = _batch(*CUTS[cut], *_log_of_sum("row3"))
    assert (found.rows, found.size, found.source) == ((3,), 5, "x:0")


@pytest.mark.parametrize(
    "cut",
    [
        (op("row", "Unpack", "x", axis="0", num="5", value=ROW),),
        (op("along", "Const", value=np.array(0)), op("row", "Split", "along", "x", num_split="5", value=ROW[None])),
    ],
    ids=["unstack", "split"],
)
def test_an_output_of_unstack_and_of_split_is_of_its_row(cut: tuple[Op, ...]) -> None:
    assert _batch(*cut, *_log_of_sum("row")).rows == (0,)


def test_rows_that_come_together_are_none_alone() -> None:
    both = op("both", "AddN", "row1", "row3", value=ROW)
    assert _batch(*_taken(1), *_taken(3), both, *_log_of_sum("both")).rows == ()
    same = op("both", "Mul", "row3", "again", value=ROW)
    assert _batch(*_taken(3), *_taken(3, "again"), same, *_log_of_sum("both")).rows == (3,)


def test_what_meets_the_whole_batch_is_of_no_row() -> None:
    mean = op("mean", "Mean", "x", "axis", value=ROW)
    assert _batch(*_taken(3), AXIS, mean, *_log_of_sum("row3", "mean")).rows == ()
    labels = np.ones(5, np.float32)
    total = op("total", "Sum", "y", "axis", value=np.float32(5))
    assert _batch(*_taken(3), AXIS, total, *_log_of_sum("row3", "total"), y=labels).rows == ()


def test_numbers_of_the_model_beside_a_row_are_no_batch() -> None:
    """As the mean of each feature: they have fewer axes than the batch, and another length."""
    assert _batch(*_taken(3), *_log_of_sum("row3", "means"), means=ROW).rows == (3,)


def test_rows_are_told_of_what_was_stacked_and_joined() -> None:
    bad = np.array([1, -INF], np.float32)
    rows = [op(f"sum{at}", "Sum", f"row{at}", "axis", value=np.float32(at == 1)) for at in (1, 3)]
    stack = op("stack", "Pack", "sum1", "sum3", axis="0", value=np.array([1, 0], np.float32))
    assert _batch(*_taken(1), *_taken(3), AXIS, *rows, stack, op("log", "Log", "stack", value=bad)).rows == (3,)
    one = np.ones(1, np.float32)
    kept = [op(f"sum{at}", "Sum", f"row{at}", "axis", keep_dims="True", value=one * (at == 1)) for at in (1, 3)]
    along = op("along", "Const", value=np.array(0))
    cat = op("cat", "ConcatV2", "sum1", "sum3", "along", value=np.array([1, 0], np.float32))
    assert _batch(*_taken(1), *_taken(3), AXIS, along, *kept, cat, op("log", "Log", "cat", value=bad)).rows == (3,)


def test_of_rows_that_are_alike_in_a_sum_none_is_picked_out() -> None:
    """The sum is 0 since all are: that one of them comes first says nothing."""
    zeros = [op(f"sum{at}", "Sum", f"row{at}", "axis", value=np.float32(0)) for at in (1, 3)]
    stack = op("stack", "Pack", "sum1", "sum3", axis="0", value=np.zeros(2, np.float32))
    total = op("total", "Sum", "stack", "axis", value=np.float32(0))
    assert (
        _batch(*_taken(1), *_taken(3), AXIS, *zeros, stack, total, op("log", "Log", "total", value=-INF)).rows == ()
    )
