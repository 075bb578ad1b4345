"""A vector that stands where features do is no batch of as many rows; labels and weights of a batch are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import NAN, Op, made_run, op

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.lone_vectors import is_lone_vector
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.names import TensorName

STATE = np.array([1, 2, -3, 4], np.float32)
S = op("s", "Placeholder", value=STATE)
W = op("w", "VariableV2", value=np.ones((4, 2)))
LOG = op("log", "Log", "s", value=[0.0, 0.7, NAN, 1.4])


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def _origin_rows(*ops: Op, **feeds: np.ndarray) -> tuple[int, ...]:
    given = {f"{name}:0": value for name, value in {"s": STATE, **feeds}.items()}
    origin = OriginSearch(made_run(S, W, *ops, LOG, feeds=given)).first()
    assert origin is not None and str(origin.name) == "log:0"
    return origin.batch_rows


@pytest.mark.parametrize("made", ["Reshape", "ExpandDims", "Pack"])
def test_a_state_that_becomes_a_row_beside_weights(made: str) -> None:
    """A blind test: the logarithm was taken of the state itself, and its third number was a bad row of 4."""
    row, product = op("row", made, "s", value=_ones(1, 4)), op("mm", "MatMul", "row", "w", value=_ones(1, 2))
    assert _origin_rows(row, product) == ()
    scaled = op("scaled", "Mul", "row", "row", value=_ones(1, 4))
    assert _origin_rows(row, scaled, op("mm", "MatMul", "scaled", "w", value=_ones(1, 2))) == ()


def test_a_vector_that_a_matrix_of_weights_is_multiplied_by() -> None:
    column = op("column", "ExpandDims", "s", value=_ones(4, 1))
    v = op("v", "VariableV2", value=_ones(2, 4))
    assert _origin_rows(v, column, op("mm", "MatMul", "v", "column", value=_ones(2, 1))) == ()


def test_a_number_for_each_class_that_is_added_to_rows_of_scores() -> None:
    """A blind test: how often each class occurs was a batch, one of whose rows was bad."""
    scores = op("scores", "Placeholder", value=_ones(6, 4))
    biased = op("biased", "Sub", "scores", "s", value=_ones(6, 4))
    assert _origin_rows(scores, biased, scores=_ones(6, 4)) == ()
    sides = op("row", "ExpandDims", "s", value=_ones(1, 4)), op("by", "Mul", "row", "scores", value=_ones(6, 4))
    assert _origin_rows(scores, *sides, scores=_ones(6, 4)) == ()


@pytest.mark.parametrize(
    "ops",
    [
        (),
        (op("row", "ExpandDims", "s", value=_ones(1, 4)), op("col", "ExpandDims", "s", value=_ones(4, 1)),
         op("pairs", "Sub", "row", "col", value=_ones(4, 4))),
        (op("row", "ExpandDims", "s", value=_ones(1, 4)), op("losses", "Placeholder", value=_ones(4, 1)),
         op("weighted", "MatMul", "row", "losses", value=_ones(1, 1))),
        (op("queries", "Placeholder", value=_ones(6, 1)), op("d", "Sub", "queries", "s", value=_ones(6, 4))),
        (op("one", "Placeholder", value=_ones(1, 4)), op("d", "Sub", "one", "s", value=_ones(1, 4))),
        (op("square", "Placeholder", value=_ones(4, 4)), op("d", "Sub", "square", "s", value=_ones(4, 4))),
        (op("col", "ExpandDims", "s", value=_ones(4, 1)), op("all", "VariableV2", value=_ones(4, 4)),
         op("mm", "MatMul", "all", "col", value=_ones(4, 1), transpose_a="false", transpose_b="true")),
    ],
    ids=["alone", "pairs", "weights of rows", "each with each", "one of as many", "square", "another axis"],
)  # fmt: skip
def test_what_may_be_a_batch_stays_one(ops: tuple[Op, ...]) -> None:
    assert _origin_rows(*ops) == (2,)


def test_labels_beside_several_predictions_of_each_are_a_part_of_the_batch() -> None:
    """As many rows of features were fed: the axis of the samples is the first one there."""
    drawn = op("drawn", "Placeholder", value=_ones(6, 4)), op("d", "Sub", "drawn", "s", value=_ones(6, 4))
    assert _origin_rows(*drawn, x=_ones(4, 3)) == (2,)
    assert _origin_rows(*drawn) == ()


def test_only_of_vectors_of_several_elements() -> None:
    run = made_run(S, W)
    node = run.graph.find("s")
    assert node is not None
    for shape in (None, (), (1,), (4, 2)):
        assert not is_lone_vector(run, Lineage(run), TensorName("s", 0), node, shape)


def _taken(*ops: Op, unchanged: tuple[str, ...] = ("s",), **given: np.ndarray) -> BatchRows:
    """The batch behind the logarithm of the third number, which a turn of a loop took out of s."""
    ends = [op(name, "Const", value=np.array([at])) for name, at in (("from", 2), ("to", 3), ("by", 1))]
    taken = op("taken", "StridedSlice", "s", "from", "to", "by", shrink_axis_mask="1", value=np.float32(-3))
    log = op("log", "Log", "taken", value=np.float32(NAN))
    feeds = {"s": STATE, **given}
    run = made_run(*(op(name, "Placeholder") for name in feeds), *ends, taken, *ops, log, feeds=feeds)
    origin = OriginSearch(replace(run, call=replace(run.call, unchanged=unchanged))).first()
    assert origin is not None and str(origin.name) == "log:0"
    return origin.batch


def test_numbers_of_which_each_turn_takes_one_are_no_batch() -> None:
    """A blind test: the noise of each step of a diffusion was a batch, and its third number the bad row."""
    found = _taken()
    assert found.rows == () and found.lost.startswith("out of s each turn takes single numbers")


def test_labels_of_which_each_turn_takes_one_stay_a_batch() -> None:
    assert _taken(unchanged=()).rows == (2,)
    assert _taken(x=_ones(4, 3)).rows == (2,)  # records that they belong to
    assert _taken(op("whole", "Square", "s", value=STATE)).rows == (2,)
