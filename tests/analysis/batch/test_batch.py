"""Rows of the batch: told only where rows were kept apart all the way from a feed."""

from __future__ import annotations

import numpy as np
import pytest
from support.batch_rows import X
from support.batch_rows import given as _x
from support.batch_rows import rows as _rows
from support.made_run import INF, Op, made_run, op

from tfdbg_cli.analysis.batch.components import components, given_with
from tfdbg_cli.analysis.origin.search import OriginSearch

BAD = np.array([[1, 1], [-INF, 1], [1, 1], [1, -INF]], np.float32)


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


@pytest.mark.parametrize(("perm", "rows"), [((0, 2, 1), (1,)), ((1, 0, 2), (0,)), ((2, 1, 0), (0,))])
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


def test_reshape_keeps_rows_and_merges_them_with_time() -> None:
    x = np.ones((4, 6), np.float32)
    kept = (
        _x(x),
        op("r", "Reshape", "x", value=np.ones((4, 2, 3))),
        op("l", "Log", "r", value=np.full((4, 2, 3), -INF)),
    )
    assert _rows(*kept, feeds={"x:0": x}) == (0, 1, 2, 3)
    bad = np.ones((8, 3))
    bad[5] = -INF  # the second half of row 2
    merged = (_x(x), op("r", "Reshape", "x", value=np.ones((8, 3))), op("l", "Log", "r", value=bad))
    assert _rows(*merged, feeds={"x:0": x}) == (2,)
    apart = np.ones((2, 2, 6))
    apart[1, 0] = -INF
    split = (_x(x), op("r", "Reshape", "x", value=np.ones((2, 2, 6))), op("l", "Log", "r", value=apart))
    assert _rows(*split, feeds={"x:0": x}) == (2,)  # of two groups of two rows the first of the second one


def _constant(name: str, *numbers: int) -> Op:
    return op(name, "Const", value=np.array(numbers if len(numbers) > 1 else numbers[0]))


def _bad(shape: tuple[int, ...], *rows: int) -> np.ndarray:
    """Ones, with -inf in the last column of `rows`."""
    found = np.ones(shape, np.float32)
    for row in rows:
        found[row, ..., -1] = -INF
    return found


def test_slices_and_pads_shift_rows() -> None:
    begin, end, by = (op(n, "Const", value=np.array(v)) for n, v in (("b", [1, 0]), ("e", [4, 3]), ("s", [2, 1])))
    cut = op("cut", "StridedSlice", "x", "b", "e", "s", value=np.ones((2, 3)))
    assert _rows(_x(), begin, end, by, cut, op("log", "Log", "cut", value=_bad((2, 3), 1))) == (3,)
    part = op("part", "Slice", "x", "b", "size", value=np.ones((3, 3)))
    size = op("size", "Const", value=np.array([3, 3]))
    assert _rows(_x(), begin, size, part, op("log", "Log", "part", value=_bad((3, 3), 0))) == (1,)
    pads = op("pads", "Const", value=np.array([[2, 0], [0, 0]]))
    padded = op("padded", "PadV2", "x", "pads", value=np.ones((6, 3)))
    assert _rows(_x(), pads, padded, op("log", "Log", "padded", value=_bad((6, 3), 5))) == (3,)


def test_an_index_takes_an_axis_away() -> None:
    x = np.ones((4, 5, 3), np.float32)
    places = {"b": [0, 2, 0], "e": [0, 3, 0], "s": [1, 1, 1]}
    constants = [op(n, "Const", value=np.array(v)) for n, v in places.items()]
    masks = {"begin_mask": "5", "end_mask": "5", "shrink_axis_mask": "2"}
    cut = op("cut", "StridedSlice", "x", "b", "e", "s", value=np.ones((4, 3)), **masks)  # x[:, 2]
    assert _rows(_x(x), *constants, cut, op("log", "Log", "cut", value=_bad((4, 3), 2)), feeds={"x:0": x}) == (2,)
    new = {"begin_mask": "6", "end_mask": "6", "new_axis_mask": "1"}
    wide = op("wide", "StridedSlice", "x", "b", "e", "s", value=np.ones((1, 4, 5, 3)), **new)  # x[newaxis]
    bad = np.ones((1, 4, 5, 3), np.float32)
    bad[0, 3, 1, 1] = INF
    assert _rows(_x(x), *constants, wide, op("exp", "Exp", "wide", value=bad), feeds={"x:0": x}) == (3,)


def test_splits_packs_and_tiles() -> None:
    two = op("two", "Split", "axis", "x", value=np.ones((2, 3)))
    assert _rows(_x(), _constant("axis", 0), two, op("log", "Log", "two", value=_bad((2, 3), 1))) == (1,)
    packed = op("packed", "Pack", "x", "x", axis="0", value=np.ones((2, 4, 3)))
    bad = np.ones((2, 4, 3), np.float32)
    bad[1, 3] = INF
    assert _rows(_x(), packed, op("exp", "Exp", "packed", value=bad)) == (3,)
    tiled = op("tiled", "Tile", "x", "times", value=np.ones((8, 3)))
    assert _rows(_x(), op("times", "Const", value=np.array([2, 1])), tiled,
                 op("log", "Log", "tiled", value=_bad((8, 3), 6))) == (2,)  # fmt: skip


def test_rows_that_were_gathered() -> None:
    chosen = op("rows", "Const", value=np.array([3, 1]))
    gathered = op("g", "GatherV2", "x", "rows", "axis", value=np.ones((2, 3)))
    assert _rows(_x(), chosen, _constant("axis", 0), gathered, op("log", "Log", "g", value=_bad((2, 3), 0))) == (3,)


def test_einsum_and_products_of_stacks() -> None:
    x = np.ones((4, 2, 3), np.float32)
    weights = op("w", "Const", value=np.ones((3, 5)))
    product = op("e", "Einsum", "x", "w", equation="btd,df->tbf", value=np.ones((2, 4, 5)))
    bad = np.ones((2, 4, 5), np.float32)
    bad[1, 3, 0] = INF
    assert _rows(_x(x), weights, product, op("exp", "Exp", "e", value=bad), feeds={"x:0": x}) == (3,)
    stacks = op("mm", "BatchMatMulV2", "x", "y", value=np.ones((4, 2, 2)))
    bad = np.ones((4, 2, 2), np.float32)
    bad[2] = INF
    other = op("y", "Const", value=np.ones((4, 3, 2)))
    assert _rows(_x(x), other, stacks, op("exp", "Exp", "mm", value=bad), feeds={"x:0": x}) == (2,)


def test_a_convolution_keeps_samples_apart() -> None:
    x = np.ones((4, 8, 8, 3), np.float32)
    bad = np.ones((4, 8, 8, 2), np.float32)
    bad[3, 0, 0, 0] = INF
    kernel = op("k", "Const", value=np.ones((3, 3, 3, 2)))
    assert _rows(_x(x), kernel, op("c", "Conv2D", "x", "k", value=bad), feeds={"x:0": x}) == (3,)


def test_one_choice_of_each_row() -> None:
    """tf.gather(x, labels, axis=1, batch_dims=1), as a loss takes the probability of each label."""
    chosen = op("g", "GatherV2", "x", "y", "axis", batch_dims="1", value=np.array([1, 1, INF, 1]))
    labels, axis = op("y", "Const", value=np.zeros(4, np.int32)), op("axis", "Const", value=np.array(1))
    assert _rows(_x(), labels, axis, chosen) == (2,)
    whole = op("g", "GatherV2", "x", "y", "axis", batch_dims="0", value=np.full((4, 4), INF))
    assert _rows(_x(), labels, axis, whole) == (0, 1, 2, 3)


def test_a_ragged_tensor_whose_row_lengths_come_from_a_number() -> None:
    """A number that is fed is neither row splits nor elements; the values themselves are the batch."""
    values, length = op("x", "Placeholder", value=np.ones(4, np.float32)), op("i", "Placeholder", value=np.array(3))
    ids = op("ids", "SparseSegments", "i", value=np.array([0, 0, 0, 1]))
    count = op("n", "Const", value=np.array(2))
    summed = op("sum", "UnsortedSegmentSum", "x", "ids", "n", value=np.array([1.0, INF]))
    feeds: dict[str, object] = {"x:0": np.ones(4, np.float32), "i:0": np.array(3)}
    assert _rows(values, length, ids, count, summed, feeds=feeds) == (3,)


def test_segments_of_a_ragged_tensor_whose_parts_are_known_by_their_names() -> None:
    """As of a session's ragged placeholder: an empty segment is the row of that place."""
    values, splits = np.ones(5, np.float32), np.array([0, 2, 2, 5])
    ops = (
        op("r/flat_values", "Placeholder"), op("r/row_splits_0", "Placeholder"),
        op("ids", "SegmentIds", "r/row_splits_0", value=np.array([0, 0, 2, 2, 2])),
        op("n", "Const", value=np.array(3)),
        op("sum", "UnsortedSegmentSum", "r/flat_values", "ids", "n", value=np.array([2.0, 0.0, 3.0])),
        op("log", "Log", "sum", value=np.array([0.7, -INF, 1.1])),
    )  # fmt: skip
    assert _rows(*ops, feeds={"r/flat_values:0": values, "r/row_splits_0:0": splits}) == (1,)


def test_the_shape_of_what_is_filled_came_in_with_no_batch() -> None:
    dims, labels = np.array([4, 3, 2, 2]), np.arange(4)
    run = made_run(
        _x(), op("dims", "Placeholder", value=dims), op("y", "Placeholder", value=labels),
        op("full", "Fill", "dims", "one", value=np.ones((4, 3, 2, 2))), op("one", "Const", value=1.0),
        op("log", "Log", "x", value=np.array([[1, 1, 1], [-INF, 1, 1], [1, 1, 1], [1, 1, 1]])),
        feeds={"x:0": X, "dims:0": dims, "y:0": labels},
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None
    assert sorted(given_with(run, origin.batch)) == ["x:0", "y:0"]


@pytest.mark.parametrize(("op_type", "places"), [("StridedSlice", 3), ("Slice", 2), ("Sum", 1), ("Tile", 1)])
def test_where_something_is_cut_came_in_with_no_batch(op_type: str, places: int) -> None:
    """Eager ops are given such numbers, as many as a batch of one has rows."""
    numbers = [f"n{at}" for at in range(places)]
    given = np.array([0])
    run = made_run(
        op("x", "Placeholder", value=X[:1]), op("shape", "Placeholder", value=np.array([1, 3])),
        *(op(name, "Placeholder", value=given) for name in numbers),
        op("cut", op_type, "shape", *numbers, value=np.array(1)),
        op("log", "Log", "x", value=np.array([[-INF, 1, 1]])),
        feeds={"x:0": X[:1], **{f"{name}:0": given for name in numbers}},
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None
    assert list(given_with(run, origin.batch)) == ["x:0"]


def test_what_is_fed_did_not_come_in_with_a_batch_that_the_run_draws() -> None:
    """A feed that nothing reads, of as many rows as the iterator of the graph gives."""
    run = made_run(
        _x(), op("next", "IteratorGetNext", value=np.zeros((4, 2), np.float32)), op("log", "Log", "next", value=BAD),
        feeds={"x:0": X},
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None
    assert (origin.batch.source, origin.batch_rows) == ("next:0", (1, 3))
    assert given_with(run, origin.batch) == {}
    assert [part.name for part in components(run, origin.batch)] == ["next:0"]


@pytest.mark.parametrize("kind", ["TopKV2", "Softmax", "LogSoftmax"])
def test_what_is_put_in_order_or_summed_along_the_batch_has_no_rows(kind: str) -> None:
    """`tf.sort(x)`: the smallest comes first, whichever row it was."""
    vector = np.array([1.0, 2.0, -6.0, 3.0], np.float32)
    few = op("k", "Const", value=np.array(4))
    made = op("made", kind, "x", "k", value=np.array([-6.0, 1.0, 2.0, 3.0], np.float32))
    log = op("log", "Log", "made", value=np.array([np.nan, 0.0, 0.7, 1.1], np.float32))
    assert _rows(_x(vector), few, made, log, feeds={"x:0": vector}) == ()


@pytest.mark.parametrize("kind", ["TopKV2", "Softmax", "LogSoftmax"])
def test_what_is_put_in_order_or_summed_within_a_row_keeps_it(kind: str) -> None:
    few = op("k", "Const", value=np.array(3))
    assert _rows(_x(), few, op("made", kind, "x", "k", value=X), op("log", "Log", "made", value=BAD)) == (1, 3)


@pytest.mark.parametrize(
    ("axis", "bad", "rows"),
    [("-1", [1, 0], (1,)), ("None", [1, 0], (1,)), ("0", [0, 1], (1,)), ("0", [2, 0], (0,))],
)
def test_rows_of_one_hot_are_told_by_its_axis(axis: str, bad: list[int], rows: tuple[int, ...]) -> None:
    y = np.array([0, 2, 1], np.int32)
    table = np.eye(3, dtype=np.float32)[y] if axis != "0" else np.eye(3, dtype=np.float32)[:, y]
    logs = np.zeros((3, 3), np.float32)
    logs[tuple(bad)] = -INF
    made = op("hot", "OneHot", "x", "depth", "on", "off", axis=axis, value=table)
    given = [op(name, "Const", value=np.array(value)) for name, value in (("depth", 3), ("on", 1.0), ("off", 0.0))]
    assert _rows(_x(y), *given, made, op("log", "Log", "hot", value=logs), feeds={"x:0": y}) == rows


def test_rows_are_of_the_input_that_is_to_blame_where_others_are_nearer() -> None:
    """A mean over what a mask keeps: it is the mask that keeps nothing of a row, also where it is made of tokens."""
    tokens = np.array([[1, 2], [0, 0], [3, 4]])
    labels = np.ones((3, 2), np.float32)
    kept = (tokens != 0).astype(np.float32)
    total = np.array([1.0, 0.0, 1.0], np.float32)
    run = made_run(
        op("tokens", "Placeholder", value=tokens), op("labels", "Placeholder", value=labels),
        op("zero", "Const", value=np.array(0)), op("axis", "Const", value=np.array(1)),
        op("kept", "NotEqual", "tokens", "zero", value=tokens != 0), op("mask", "Cast", "kept", value=kept),
        op("loss", "Mul", "labels", "mask", value=kept), op("sum", "Sum", "loss", "axis", value=total),
        op("count", "Sum", "mask", "axis", value=total),
        op("mean", "RealDiv", "sum", "count", value=np.array([1.0, np.nan, 1.0], np.float32)),
        feeds={"tokens:0": tokens, "labels:0": labels},
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None
    assert (origin.batch.source, origin.batch_rows) == ("tokens:0", (1,))
    assert origin.cause.blames == 1, "0 / 0: the denominator"


@pytest.mark.parametrize("truth", ["NotEqual", "Greater", "LogicalAnd"])
def test_what_is_asked_of_each_element_keeps_rows_apart(truth: str) -> None:
    asked = op("asked", truth, "x", "x", value=np.ones((4, 3), np.bool_))
    number = op("number", "Cast", "asked", value=np.ones((4, 3), np.float32))
    bad = np.ones((4, 3), np.float32)
    bad[2] = np.inf
    assert _rows(_x(), asked, number, op("r", "Reciprocal", "number", value=bad)) == (2,)


def test_rows_that_were_put_in_order_by_what_was_fed_are_those_of_the_data() -> None:
    order = np.array([3, 2, 1, 0])
    bad = np.ones((4, 3), np.float32)
    bad[1] = np.inf
    taken = op("taken", "GatherV2", "x", "order", "axis", value=np.ones((4, 3), np.float32))
    run = made_run(
        _x(), op("order", "Placeholder", value=order), op("axis", "Const", value=np.array(0)), taken,
        op("r", "Exp", "taken", value=bad), feeds={"x:0": X, "order:0": order},
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None
    assert (origin.batch.source, origin.batch_rows) == ("x:0", (2,))


@pytest.mark.parametrize("shape", [(1, 4), (4, 1)])
def test_an_axis_of_one_that_was_added_tells_no_rows_apart(shape: tuple[int, ...]) -> None:
    """A blind test: the four numbers of one state, made a batch of one, were four bad rows."""
    state = op("state", "Placeholder", value=np.ones(4))
    ops = (
        state,
        op("one", "ExpandDims", "state", value=np.ones(shape)),
        op("w", "Const", value=np.ones((4, 4))),
        op("mm", "MatMul", "one", "w", value=np.full((shape[0], 4), INF)),
    )
    expected = () if shape == (1, 4) else (0, 1, 2, 3)  # the first axis is that of the state, or a new one
    assert _rows(*ops, feeds={"state:0": np.ones(4)}) == expected
