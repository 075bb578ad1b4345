"""Rows of the batch where what is bad came by different inputs of one op, as of a mixture of experts."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.origin.search import OriginSearch

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
