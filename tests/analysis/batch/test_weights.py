"""Weights that a loop holds in plain tensors have no rows of a batch; states of the nodes of a graph have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import NAN, Op, made_run, op

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.origin.search import OriginSearch

Shape = tuple[int, ...]


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def _bad(*shape: int) -> np.ndarray:
    """One number is bad, in row 1 of a matrix, or in the first place of all that are left."""
    bad = _ones(*shape)
    bad[(min(1, shape[0] - 1), 0)] = NAN
    return bad


def _batch(*ops: Op, carried: bool = True, w: Shape = (4, 3), x: Shape = (5, 4)) -> BatchRows:
    """The batch behind the first logarithm, of what an earlier run computed as w, unless that is not `carried`."""
    feeds = {"x": _ones(*x), "w": _ones(*w)}
    run = made_run(op("x", "Placeholder"), op("w", "Placeholder"), *ops, feeds=feeds)
    call = replace(run.call, carried={"w": 3} if carried else {})
    origin = OriginSearch(replace(run, call=call)).first()
    assert origin is not None and str(origin.name) == "log:0"
    return origin.batch


LOG = op("log", "Log", "w", value=_bad(4, 3))


@pytest.mark.parametrize(
    "product",
    [
        op("mm", "MatMul", "x", "w", value=_ones(5, 3)),
        op("mm", "MatMul", "w", "x", transpose_a="true", transpose_b="true", value=_ones(3, 5)),
    ],
    ids=["x @ w", "transposed"],
)
def test_what_rows_are_multiplied_with_is_no_batch(product: Op) -> None:
    """A blind test: weights that each turn computed anew were the batch, of which a row was bad."""
    found = _batch(product, LOG)
    assert found.rows == () and found.lost == "w is what rows are multiplied with that came in, as with weights"
    assert _batch(product, LOG, carried=False).rows == (1,)  # nothing tells it from a batch yet


@pytest.mark.parametrize(
    ("product", "w", "x"),
    [
        (op("mm", "MatMul", "x", "w", value=_ones(4, 3)), (4, 3), (4, 4)),
        (op("mm", "MatMul", "w", "x", value=_ones(4, 2)), (4, 3), (3, 2)),
        (op("mm", "MatMul", "x", "w", value=_ones(1, 3)), (4, 3), (4, 1)),
    ],
    ids=["neighbours of nodes", "rows by weights", "one row of other numbers"],
)
def test_what_may_be_the_state_of_records_is(product: Op, w: Shape, x: Shape) -> None:
    assert _batch(product, LOG, w=w, x=x).rows == (1,)


def test_what_is_multiplied_with_itself_stays_the_batch() -> None:
    square = op("square", "Square", "w", value=_ones(4, 3))
    assert _batch(square, op("mm", "MatMul", "square", "w", transpose_a="true", value=_ones(3, 3)), LOG).rows == (1,)


def _row_and_product(cut: str) -> tuple[Op, ...]:
    """Row 3 of x, as wide as w has rows, by which it is multiplied."""
    numbers = [op(name, "Const", value=np.array([at])) for name, at in (("from", 3), ("to", 4), ("by", 1))]
    return (
        *numbers,
        op("row", "StridedSlice", cut, "from", "to", "by", shrink_axis_mask="1", value=_ones(4)),
        op("wide", "ExpandDims", "row", "zero", value=_ones(1, 4)), op("zero", "Const", value=np.array(0)),
        op("mm", "MatMul", "wide", "w", value=_ones(1, 3)), op("log", "Log", "mm", value=_bad(1, 3)),
    )  # fmt: skip


def test_a_single_row_that_is_multiplied_with_weights_is_found() -> None:
    """A blind test: of `x[i] @ w` no row was found, since w might have been the batch."""
    assert _batch(*_row_and_product("x")).rows == (3,)
    first = _batch(*_row_and_product("x"), carried=False)
    assert first.rows == () and first.lost == "beside a row of x:0 all of w:0 was read, which may be the batch"
