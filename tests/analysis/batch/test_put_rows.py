"""Rows of the batch where what is bad came by different inputs of one op, as of a mixture of experts."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.graph import GIVEN_BY

BACK = np.array([[3], [4], [5]])
FRONT = np.array([[0], [1], [2]])


def _rows(x: np.ndarray, made: np.ndarray, *ops: Op) -> tuple[int, ...]:
    """The rows of `x`, cut in halves `back` and `front`, behind the logarithm of `made`, which `ops` give."""
    ends = [op(f"at{at}", "Const", value=np.array([at])) for at in (0, 3, 6, 1)]
    halves = (
        op("front", "StridedSlice", "x", "at0", "at3", "at1", value=x[:3]),
        op("back", "StridedSlice", "x", "at3", "at6", "at1", value=x[3:]),
        op("to_front", "Const", value=FRONT), op("to_back", "Const", value=BACK),
    )  # fmt: skip
    with np.errstate(divide="ignore"):
        log = op("log", "Log", "made", value=np.log(made))
    run = made_run(op("x", "Placeholder", value=x), *ends, *halves, *ops, log, feeds={"x:0": x})
    origin = OriginSearch(run).first()
    assert origin is not None
    return origin.batch_rows


def _x(*zeros: int, width: int = 1) -> np.ndarray:
    x = np.ones((6, 3 * width), np.float32)
    x[zeros, :width] = 0
    return x


@pytest.mark.parametrize("op_type", ["TensorScatterUpdate", "TensorScatterAdd"])
@pytest.mark.parametrize("zeros", [(0, 3, 5), (1, 4), (2,)])
def test_of_rows_that_are_put_one_after_the_other_all_are_told(op_type: str, zeros: tuple[int, ...]) -> None:
    x = _x(*zeros)
    first = np.concatenate([x[3:], np.zeros((3, 3), np.float32)])
    ops = (
        op("none", "Const", value=np.zeros((6, 3), np.float32)),
        op("first", op_type, "none", "to_front", "back", value=first),
        op("made", op_type, "first", "to_back", "front", value=np.concatenate([x[3:], x[:3]])),
    )
    assert _rows(x, np.concatenate([x[3:], x[:3]]), *ops) == zeros


@pytest.mark.parametrize("width", [1, 50])
def test_of_rows_that_are_put_apart_and_added_all_are_told(width: int) -> None:
    """Of more elements, too, than are followed one by one."""
    x, none = _x(0, 3, 5, width=width), np.zeros((3, 3 * width), np.float32)
    ops = (
        op("shape", "Const", value=np.array([6, 3 * width])),
        op("one", "ScatterNd", "to_front", "back", "shape", value=np.concatenate([x[3:], none])),
        op("other", "ScatterNd", "to_back", "front", "shape", value=np.concatenate([none, x[:3]])),
        op("made", "AddV2", "one", "other", value=np.concatenate([x[3:], x[:3]])),
    )
    assert _rows(x, np.concatenate([x[3:], x[:3]]), *ops) == (0, 3, 5)


@pytest.mark.parametrize("numbers", [1, 2])
def test_numbers_that_were_put_into_an_argument_are_no_batch(numbers: int) -> None:
    """A blind test: row 0 of 1, where eager code wrote one element of the batch before the call."""
    x = np.ones((4, 3), np.float32)
    x[2, 0] = -5.0
    at = np.array([[2, 0], [3, 1]][:numbers])
    made = x.sum(1, keepdims=True)
    with np.errstate(invalid="ignore"):
        root = np.sqrt(made)
    run = made_run(
        op("eager/input", "Placeholder"),
        op("eager/ones", "Fill", "eager/dims", "eager/one", value=np.ones((4, 3), np.float32)),
        op("eager/at", "Const", value=at),
        op("eager/put", "TensorScatterUpdate", "eager/ones", "eager/at", "eager/input", value=x),
        op("x", "Identity", "eager/put", value=x, **{GIVEN_BY: "eager/put:0"}),
        op("w", "Const", value=np.ones((3, 1), np.float32)),
        op("made", "MatMul", "x", "w", value=made),
        op("root", "Sqrt", "made", value=root),
        feeds={"eager/input": np.array([-5.0, 1.0][:numbers], np.float32), "x": x},
    )
    origin = OriginSearch(run).first()
    assert origin is not None
    batch = origin.batch
    assert (batch.source, batch.rows, batch.size) == ("x:0", (2,), 4)
