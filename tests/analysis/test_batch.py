"""Rows of the batch: told only where rows were kept apart all the way from a feed."""

from __future__ import annotations

import numpy as np
import pytest
from made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.origin import find_origin

X = np.ones((4, 3), np.float32)
BAD = np.array([[1, 1], [-INF, 1], [1, 1], [1, -INF]], np.float32)


def _rows(*ops: Op, feeds: dict[str, object] | None = None) -> tuple[int, ...]:
    origin = find_origin(made_run(*ops, feeds={"x:0": X} if feeds is None else feeds))
    assert origin is not None
    return origin.batch_rows


def _x(value: object = X) -> Op:
    return op("x", "Placeholder", value=value)


W = op("w", "Const", value=np.ones((3, 2), np.float32))


def test_through_a_matrix_product() -> None:
    assert _rows(_x(), W, op("mm", "MatMul", "x", "w", value=np.ones((4, 2))), op("log", "Log", "mm", value=BAD)) == (
        1,
        3,
    )


def test_a_transposed_product_mixes_rows() -> None:
    mixed = op("mm", "MatMul", "x", "y", transpose_a="True", value=np.full((4, 2), INF))
    assert (
        _rows(_x(np.ones((4, 4))), op("y", "Const", value=np.ones((4, 2))), mixed, feeds={"x:0": np.ones((4, 4))})
        == ()
    )


def test_a_vector_as_long_as_the_batch_beside_a_square_matrix_is_no_way_to_it() -> None:
    matrix = op("m", "Const", value=np.ones((4, 4)))
    product = op("s", "Mul", "m", "x", value=np.full((4, 4), INF))
    assert _rows(_x(np.ones(4)), matrix, product, feeds={"x:0": np.ones(4)}) == ()


def test_a_reduction_over_the_batch_ends_it() -> None:
    total = op("sum", "Sum", "x", "axis", value=np.array([INF, 1, 1]))
    assert _rows(_x(), op("axis", "Const", value=np.array(0)), total) == ()


def test_a_reduction_over_features_keeps_it() -> None:
    total = op("sum", "Sum", "x", "axis", value=np.array([1, INF, 1, INF]))
    assert _rows(_x(), op("axis", "Const", value=np.array(1)), total) == (1, 3)


def test_a_weight_as_long_as_the_batch_is_no_batch() -> None:
    assert _rows(_x(), op("w", "VariableV2", value=np.full((4, 3), INF))) == ()


def test_a_bias_as_long_as_the_batch_is_no_way_to_it() -> None:
    """A vector of 4 beside a [3,4] matrix runs along columns, though the batch has 4 rows."""
    matrix = op("m", "Const", value=np.ones((3, 4)))
    product = op("s", "Mul", "m", "x", value=np.full((3, 4), INF))
    assert _rows(_x(np.ones(4)), matrix, product, feeds={"x:0": np.ones(4)}) == ()


def test_rows_looked_up_by_fed_indices() -> None:
    table = op("table", "VariableV2", value=np.ones((9, 2)))
    axis = op("axis", "Const", value=np.array(0))
    ids = np.array([5, 2, 7, 0])
    look = op("look", "GatherV2", "table", "ids", "axis", value=np.ones((4, 2)))
    run = (table, op("ids", "Placeholder", value=ids), axis, look, op("log", "Log", "look", value=BAD))
    assert _rows(*run, feeds={"ids:0": ids}) == (1, 3)


@pytest.mark.parametrize(("axis", "rows"), [(1, (1, 3)), (-1, (1, 3)), (0, ())])
def test_concatenation_keeps_rows_unless_along_them(axis: int, rows: tuple[int, ...]) -> None:
    half = np.ones((4, 1)) if axis else np.ones((2, 2))
    cat = op("cat", "ConcatV2", "x", "x", "axis", value=np.ones((4, 2)))
    ops = (_x(half), op("axis", "Const", value=np.array(axis)), cat, op("log", "Log", "cat", value=BAD))
    assert _rows(*ops, feeds={"x:0": half}) == rows


@pytest.mark.parametrize(("perm", "rows"), [((0, 2, 1), (1,)), ((1, 0, 2), ())])
def test_transposition(perm: tuple[int, ...], rows: tuple[int, ...]) -> None:
    x = np.ones((4, 4, 4))
    bad = x.copy()
    bad[1, 0, 0] = INF
    ops = (
        _x(x),
        op("p", "Const", value=np.array(perm)),
        op("t", "Transpose", "x", "p", value=x),
        op("l", "Exp", "t", value=bad),
    )
    assert _rows(*ops, feeds={"x:0": x}) == rows


def test_reshape_keeps_rows_while_their_number_stays() -> None:
    x = np.ones((4, 6), np.float32)
    kept = (
        _x(x),
        op("r", "Reshape", "x", value=np.ones((4, 2, 3))),
        op("l", "Log", "r", value=np.full((4, 2, 3), -INF)),
    )
    assert _rows(*kept, feeds={"x:0": x}) == (0, 1, 2, 3)
    lost = (_x(x), op("r", "Reshape", "x", value=np.ones((8, 3))), op("l", "Log", "r", value=np.full((8, 3), -INF)))
    assert _rows(*lost, feeds={"x:0": x}) == ()


def test_an_input_pipeline_is_a_source_of_batches() -> None:
    next_ = op("next", "IteratorGetNext", value=np.ones((4, 2)))
    assert _rows(next_, op("log", "Log", "next", value=BAD), feeds={}) == (1, 3)


def test_a_feed_that_was_not_captured_counts() -> None:
    assert _rows(op("x", "Placeholder"), op("log", "Log", "x", value=BAD), feeds={"x:0": np.ones((4, 2))}) == (1, 3)


def test_a_scalar_has_no_rows() -> None:
    assert _rows(_x(), op("m", "Mean", "x", value=INF)) == ()
