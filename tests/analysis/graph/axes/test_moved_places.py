"""Ops made again with places: what is told is borne out by the values, or nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.moved_places import moved_place
from tfdbg_cli.analysis.graph.axes.row_ways import RowSet
from tfdbg_cli.model.graph import Node

X = np.arange(12.0).reshape(4, 3)
IDS = np.array([2, 0]), np.array([3, 1])


def _set(
    op_type: str, inputs: Sequence[np.ndarray], made: np.ndarray | None, *rows: int, slot: int = 0, **more: str
) -> RowSet:
    def value(position: int) -> np.ndarray | None:
        return inputs[position] if inputs[position].dtype.kind in "iu" else None

    node, shape = Node("moved", op_type, "", (), (), more), (0,) if made is None else made.shape
    shapes = [one.shape for one in inputs]
    return RowSet(node, slot, shape, 0, np.array(rows), shapes, value, value, lambda at: inputs[at], lambda: made)


def _ways(one: RowSet) -> list[tuple[int, int, list[int]]]:
    return [(way.position, way.axis, way.rows.tolist()) for way in ways_back(one)]


def _stitched(*rows: int) -> RowSet:
    return _set("DynamicStitch", [*IDS, X[:2], X[2:]], np.stack([X[1], X[3], X[0], X[2]]), *rows)


def test_rows_that_were_stitched_together() -> None:
    assert _ways(_stitched(0, 3)) == [(2, 0, [1]), (3, 0, [0])]
    assert moved_place(_stitched(), (1, 2)) == (3, (1, 2))


def test_nothing_is_told_where_the_values_are_others() -> None:
    other = _set("DynamicStitch", [*IDS, X[:2], X[2:]], X + 1, 0)
    assert _ways(other) == [] and moved_place(other, (0, 0)) is None


def test_nothing_is_told_where_the_values_are_not_known() -> None:
    assert _ways(_set("ReverseSequence", [X, np.array([1, 2, 3, 1])], None, 0, seq_dim="1")) == []


def test_nothing_is_told_of_inputs_that_do_not_fit() -> None:
    assert _ways(_set("ReverseSequence", [X, np.array([1, 2])], X, 0, seq_dim="1")) == []


def test_places_within_a_row_that_was_turned_round() -> None:
    made = X.copy()
    made[2] = made[2, ::-1]
    one = _set("ReverseSequence", [X, np.array([1, 1, 3, 1])], made, 2, seq_dim="1", batch_dim="0")
    assert _ways(one) == [(0, 0, [2])]
    assert moved_place(one, (2, 0)) == (0, (2, 2))


def test_a_row_that_is_made_of_several_is_not_told_as_one() -> None:
    x = np.arange(8.0).reshape(8, 1, 1, 1)
    made = x.reshape(2, 2, 2).transpose(2, 0, 1)[..., None]
    one = _set("BatchToSpaceND", [x, np.array([2, 2]), np.zeros((2, 2), np.int64)], made, 1)
    assert _ways(one) == []
    assert moved_place(one, (1, 1, 0, 0)) == (0, (5, 0, 0, 0))


@pytest.mark.parametrize(("row", "behind"), [(0, [0, 2]), (1, [1])])
def test_what_is_alike_is_of_all_rows_that_hold_it(row: int, behind: list[int]) -> None:
    x = np.array([7.0, 3.0, 7.0])
    assert _ways(_set("Unique", [x], np.array([7.0, 3.0]), row)) == [(0, 0, behind)]


def test_stored_elements_of_ragged_rows() -> None:
    splits, values = np.array([0, 2, 2, 5]), np.arange(5.0)
    gathered = values[[2, 3, 4, 0, 1]]
    one = _set("RaggedGather", [splits, values, np.array([2, 1, 0])], gathered, 3, slot=1)
    assert _ways(one) == [(1, 0, [0])]
    assert _ways(replace(one, slot=0)) == [], "row splits are no rows"
