"""Rows of the batch behind elements that are followed one by one: chosen, looked up, made of texts."""

from __future__ import annotations

import numpy as np
import pytest
from support.batch_rows import given as _x
from support.batch_rows import rows as _rows
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.batch.rows import _followed
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.commands.views.origin.batch import batch_lines


def _constant(name: str, number: int) -> Op:
    return op(name, "Const", value=np.array(number))


def _with_zero(shape: tuple[int, ...], *rows: int) -> np.ndarray:
    """Numbers above 1, with 0 at the beginning of `rows`."""
    found = np.arange(2, 2 + np.prod(shape), dtype=np.float32).reshape(shape)
    for row in rows:
        found[(row, *[0] * (len(shape) - 1))] = 0
    return found


def _log(of: str, value: np.ndarray) -> Op:
    with np.errstate(divide="ignore"):
        return op("log", "Log", of, value=np.log(value))


@pytest.mark.parametrize(("zeros", "rows"), [((3,), (3,)), ((2, 3), (2, 3))])
def test_of_a_segment_the_rows_that_won_are_told(zeros: tuple[int, ...], rows: tuple[int, ...]) -> None:
    x = _with_zero((4, 3), *zeros)
    least = np.stack([x[:2].min(0), x[2:].min(0)])
    ops = (
        _x(x),
        op("ids", "Const", value=np.array([0, 0, 1, 1])),
        op("least", "UnsortedSegmentMin", "x", "ids", value=least),
        _log("least", least),
    )
    assert _rows(*ops, feeds={"x:0": x}) == rows


def test_of_more_elements_than_are_followed_one_by_one_rows_that_won_nowhere_are_not_told() -> None:
    x = np.arange(1, 401, dtype=np.float32).reshape(4, 100)
    x[3] = 0
    least = np.stack([x[:2].min(0), x[2:].min(0)])
    ids = op("ids", "Const", value=np.array([0, 0, 1, 1]))
    ops = (_x(x), ids, op("least", "SegmentMin", "x", "ids", value=least), _log("least", least))
    assert _rows(*ops, feeds={"x:0": x}) == (3,)


@pytest.mark.parametrize(("width", "rows", "doubtful"), [(3, (1,), ()), (70, (1, 2), (2,))])
def test_of_more_elements_than_are_followed_rows_to_which_none_leads_are_doubtful(
    width: int, rows: tuple[int, ...], doubtful: tuple[int, ...]
) -> None:
    """Each row is multiplied with the one before it: that behind the bad one was told like the bad one."""
    x = np.ones((4, width), np.float32)
    x[1] = 0
    ops = (
        _x(x), op("begin", "Const", value=np.array([1, 0])), op("zeros", "Const", value=np.array([0, 0])),
        op("size", "Const", value=np.array([3, width])), op("next", "Slice", "x", "begin", "size", value=x[1:]),
        op("last", "Slice", "x", "zeros", "size", value=x[:-1]),
        op("mul", "Mul", "next", "last", value=x[1:] * x[:-1]),
    )  # fmt: skip
    run = made_run(*ops, _log("mul", x[1:] * x[:-1]), feeds={"x:0": x})
    origin = OriginSearch(run).first()
    assert origin is not None
    assert (origin.batch_rows, origin.batch.doubtful) == (rows, doubtful)
    (told,) = batch_lines(run, origin.batch)
    assert ("; row 2 may be innocent" in told.text) == bool(doubtful)


def test_of_the_smallest_of_a_column_all_rows_that_hold_it_are_told() -> None:
    x = _with_zero((4, 3), 1, 2)
    ops = (_x(x), op("axis", "Const", value=np.array(0)), op("min", "Min", "x", "axis", value=x.min(0)))
    assert _rows(*ops, _log("min", x.min(0)), feeds={"x:0": x}) == (1, 2)


@pytest.mark.parametrize("shown", [True, False])
def test_rows_looked_up_by_several_indices_are_those_that_the_values_tell(shown: bool) -> None:
    """Negatives of the same batch, multiplied with the positive, whose row is not to blame."""
    x, ids = _with_zero((4, 3), 3), np.array([[1, 2], [2, 3], [3, 0], [0, 1]])
    near = x[ids].min(-1)
    own = x.sum(1, keepdims=True)
    ops = (
        _x(x) if shown else op("x", "Placeholder"),
        op("ids", "Const", value=ids), _constant("first", 0), _constant("last", -1),
        _constant("one", 1), op("sum", "Sum", "x", "one", keep_dims="True", value=own),
        op("taken", "GatherV2", "x", "ids", "first", value=x[ids]), op("near", "Min", "taken", "last", value=near),
        op("both", "Mul", "near", "sum", value=near * own), _log("both", near * own),
    )  # fmt: skip
    assert _rows(*ops, feeds={"x:0": x}) == (3,)


@pytest.mark.parametrize("op_type", ["MatMul", "Einsum"])
def test_a_product_with_ones_among_zeros_puts_rows_in_another_order(op_type: str) -> None:
    """Where ops run one by one, the order is given as the batch is: its rows are not to blame."""
    x, order = _with_zero((4, 3), 3), np.array([2, 3, 0, 1])
    hot = np.eye(4, dtype=np.float32)[order]
    ops = (
        _x(x), op("order", "Placeholder", value=order), op("depth", "Const", value=np.array(4)),
        op("on", "Const", value=1.0), op("off", "Const", value=0.0),
        op("hot", "OneHot", "order", "depth", "on", "off", axis="-1", value=hot),
        op("mm", op_type, "hot", "x", equation="cb,bi->ci", value=hot @ x), _log("mm", hot @ x),
    )  # fmt: skip
    assert _rows(*ops, feeds={"x:0": x, "order:0": order}) == (3,)


def test_rows_that_were_taken_apart_and_put_together_in_another_order() -> None:
    x, places = _with_zero((3, 2), 1, 2), (2, 1, 0)
    ends = [op(f"at{at}", "Const", value=np.array([at])) for at in range(4)]
    taken = [
        op(f"row{at}", "StridedSlice", "x", f"at{at}", f"at{at + 1}", "at1", shrink_axis_mask="1", value=x[at])
        for at in places
    ]
    stack = op("stack", "Pack", *(f"row{at}" for at in places), axis="0", value=x[::-1])
    assert _rows(_x(x), *ends, *taken, stack, _log("stack", x[::-1]), feeds={"x:0": x}) == (1, 2)


TEXTS = np.array(["a b", "c", "", "d e f"], object)


@pytest.mark.parametrize("shown", [True, False])
def test_numbers_that_were_made_of_texts_are_of_their_rows(shown: bool) -> None:
    lengths = np.array([3, 1, 0, 5], np.float32)
    texts = op("t", "Placeholder", value=TEXTS if shown else None)
    made = op("n", "StringLength", "t", value=lengths.astype(np.int32))
    cast = op("cast", "Cast", "n", value=lengths)
    assert _rows(texts, made, cast, _log("cast", lengths), feeds={"t:0": TEXTS}) == (2,)


def _split_texts() -> tuple[Op, ...]:
    places = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [3, 1], [3, 2]])
    cut = [op(name, "Const", value=np.array(at)) for name, at in (("b", [0, 0]), ("e", [6, 1]), ("s", [1, 1]))]
    masks = {"begin_mask": "1", "end_mask": "1", "shrink_axis_mask": "2"}
    return (
        op("t", "Placeholder"), op("sep", "Const", value=np.array(0)),
        op("split", "StringSplitV2", "t", "sep", value=places),
        *cut, op("of_text", "StridedSlice", "split", "b", "e", "s", value=places[:, 0], **masks),
    )  # fmt: skip


@pytest.mark.parametrize(("counts", "rows"), [((2, 1, 0, 3), (2,)), ((2, 1, 0), ())])
def test_the_number_of_parts_is_of_the_text_of_its_row(counts: tuple[int, ...], rows: tuple[int, ...]) -> None:
    number = np.array(counts, np.float32)
    ops = (op("n", "DenseBincount", "of_text", value=np.array(counts)), op("cast", "Cast", "n", value=number))
    assert _rows(*_split_texts(), *ops, _log("cast", number), feeds={"t:0": TEXTS}) == rows


@pytest.mark.parametrize("shape", [(100,), (40, 5), (7, 3, 30), (200, 2, 1)])
@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
def test_of_many_bad_elements_the_first_of_each_row_is_followed(shape: tuple[int, ...], share: float) -> None:
    bad = np.random.default_rng(0).random(shape) < share
    places, found = np.argwhere(bad), _followed(bad)
    if len(places) > 64:
        places = places[np.unique(places[:, 0], return_index=True)[1]][:64]
    assert found[0].tolist() == places.tolist()
    assert found[1] == (np.count_nonzero(bad) <= 64)


def test_none_of_a_tensor_that_is_too_large_is_followed() -> None:
    places, are_all = _followed(np.ones((1 << 24) + 1, np.bool_))
    assert not len(places) and not are_all
