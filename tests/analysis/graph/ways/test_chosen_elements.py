"""Elements that an op chose, told by the values alone."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.analysis.graph.making.parts import Part
from tfdbg_cli.analysis.graph.ways.chosen_elements import chosen_elements, equal_elements
from tfdbg_cli.model.graph import Node

DATA = np.array([[4, 1], [2, 5], [2, 3]], np.float32)


def _picked(left: list[float], right: list[float]) -> tuple[int, tuple[tuple[int, ...], ...]] | None:
    parts = (Part((7, None), np.array(left, np.float32)), Part((None, 2), np.array(right, np.float32)))
    found = chosen_elements(Node("mm", "MatMul", ""), (None, None), parts, (7, 2))
    return None if found is None else (found.position, found.elements)


@pytest.mark.parametrize(
    ("op_type", "element", "elements"),
    [
        ("UnsortedSegmentMin", (1, 0), ((1, 0), (2, 0))),
        ("SegmentMax", (1, 1), ((1, 1),)),
        ("SegmentMin", (0, 1), ((0, 1),)),
    ],
)
def test_the_extremes_of_a_segment(op_type: str, element: tuple[int, int], elements: tuple[object, ...]) -> None:
    found = chosen_elements(Node("s", op_type, ""), (DATA, np.array([0, 1, 1])), (), element)
    assert found is not None and (found.position, found.elements) == (0, elements)


def test_of_a_segment_without_elements_nothing_is_told() -> None:
    assert chosen_elements(Node("s", "UnsortedSegmentMax", ""), (DATA, np.array([0, 1, 1])), (), (2, 0)) is None


def test_a_one_among_zeros_picks_an_element() -> None:
    assert _picked([0, 0, 1], [3, 4, 0]) == (1, ((2, 2),))
    assert _picked([3, 4, 0], [0, 0, 1]) == (0, ((7, 2),))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([0, 0, 2], [3, 4, 0]),  # not what it is, but the double of it
        ([0, 1, 1], [3, 4, 0]),
        ([0, 0, 1], [0, 0, 1]),  # either picks
        ([0, 0, 1], [np.inf, 4, 0]),  # 0 times infinity is NaN
    ],
)
def test_nothing_is_picked_where_the_values_do_not_say_so(left: list[float], right: list[float]) -> None:
    assert _picked(left, right) is None


def test_equal_elements_were_chosen_alike() -> None:
    part = Part((None, 3), np.array([0, 2, 0], np.float32))
    assert equal_elements(part, (0, 3)) == ((0, 3), (2, 3))
    assert equal_elements(Part((None,), np.array([np.nan, 1, np.nan])), (2,)) == ((2,), (0,))
