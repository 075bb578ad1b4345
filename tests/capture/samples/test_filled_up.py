"""Records brought from the width of one batch to that of another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.capture.samples.filled_up import refilled


def test_zeros_are_added_and_cut_off() -> None:
    block = {0: np.array([[1, 2, 0], [3, 0, 0], [4, 5, 6]]), 1: np.array([7, 8, 9])}
    assert refilled(np.arange(3), block, {0: (3,), 1: ()}) is None
    wider = refilled(np.arange(3), block, {0: (4,), 1: ()})
    assert wider is not None and wider[1][0].tolist() == [[1, 2, 0, 0], [3, 0, 0, 0], [4, 5, 6, 0]]
    narrower = refilled(np.arange(3), block, {0: (2,), 1: ()})
    assert narrower is not None and narrower[0].tolist() == [0, 1]
    assert narrower[1][0].tolist() == [[1, 2], [3, 0]] and narrower[1][1].tolist() == [7, 8]


def test_texts_are_filled_up_with_empty_ones() -> None:
    block = {0: np.array([[b"a", b"b"], [b"c", b""]], object)}
    wider, narrower = refilled(np.arange(2), block, {0: (3,)}), refilled(np.arange(2), block, {0: (1,)})
    assert wider is not None and wider[1][0].tolist() == [[b"a", b"b", b""], [b"c", b"", b""]]
    assert narrower is not None and narrower[0].tolist() == [1] and narrower[1][0].tolist() == [[b"c"]]


@pytest.mark.parametrize("held", [-0.0, np.nan, np.inf, 1e-45])
def test_what_is_no_zero_that_was_filled_in_is_not_cut_off(held: float) -> None:
    found = refilled(np.arange(2), {0: np.array([[1, 0], [1, held]], np.float32)}, {0: (1,)})
    assert found is not None and found[0].tolist() == [0]


def test_other_numbers_of_axes_and_rows_of_others_stay() -> None:
    assert refilled(np.arange(2), {0: np.ones((2, 3))}, {0: (3, 1)}) is None
    assert refilled(np.arange(3), {0: np.ones((2, 3))}, {0: (4,)}) is None


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.integers(0, 9), st.integers(0, 9))
def test_two_widths_that_hold_it_make_it_the_same(record: list[int], more: int, other: int) -> None:
    made = np.array([[*record, *[0] * more]])
    shape = (len(record) + other,)
    found = refilled(np.array([5]), {0: made}, {0: shape}) or (np.array([5]), {0: made})
    assert found[0].tolist() == [5] and found[1][0].tolist() == [[*record, *[0] * other]]
