"""Rows of what is stored element by element."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import RowSet
from tfdbg_cli.model.graph import Node

PLACES = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [3, 1]])


def _texts(slot: int, places: np.ndarray | None, *rows: int) -> list[list[int]]:
    node, shape = Node("split", "StringSplitV2", ""), ((5, 2), (5,), (2,))[slot]
    one = RowSet(node, slot, shape, 0, np.array(rows), [(4,), ()], lambda _: None, lambda _: places)
    return [way.rows.tolist() for way in ways_back(one)]


def test_parts_are_of_the_texts_from_which_they_were_split() -> None:
    assert _texts(1, PLACES, 1, 4) == [[0, 3]]
    assert _texts(0, PLACES, 2) == [[1]]


def test_parts_whose_places_nobody_saw_and_the_shape_are_of_no_text() -> None:
    assert not _texts(1, None, 1)
    assert not _texts(2, PLACES, 0)


def _least(made: np.ndarray | None, *rows: int) -> list[list[int]]:
    data, ids = np.array([[2, 3], [0, 4], [5, 6], [np.nan, 7]]), np.array([0, 0, 1, 1])
    shapes = [(4, 2), (4,), ()]
    one = RowSet(
        Node("least", "UnsortedSegmentMin", ""), 0, (2, 2), 0, np.array(rows), shapes,
        lambda at: ids if at == 1 else None, elements=lambda at: data, made=lambda: made,
    )  # fmt: skip
    return [way.rows.tolist() for way in ways_back(one)]


def test_a_row_that_won_nowhere_is_not_behind_the_least_of_its_segment() -> None:
    assert _least(np.array([[0.0, 3.0], [np.nan, 6.0]]), 0, 1) == [[0, 1, 2, 3]]
    assert _least(np.array([[0.0, -1.0], [5.0, 6.0]]), 0) == [[1]]
    assert _least(None, 0) == [[0, 1]], "where the values are not known, any may have won"
