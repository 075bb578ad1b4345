"""Rows to blame where several axes lead to one batch, told by which comparisons are bad."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.compared_rows import along_axes, may_compare_rows, rows_of_several_axes

_Place = tuple[int, ...]


def _rows(shape: _Place, *bad: _Place, behind: Sequence[Sequence[int]] | None = None) -> tuple[int, ...]:
    """The rows of a batch of 4 that are told where these places are bad; `behind` has those of each axis."""
    mask = np.zeros(shape, np.bool_)
    mask[tuple(zip(*bad, strict=True))] = True
    rows = behind or [np.flatnonzero(along_axes(mask, axis)).tolist() for axis in range(len(shape))]
    return rows_of_several_axes({axis: BatchRows(tuple(of), "x:0", 4) for axis, of in enumerate(rows)}, mask).rows


@pytest.mark.parametrize(
    ("bad", "rows"),
    [
        ([(2, 2)], (2,)),  # with itself
        ([(1, 3)], (1, 3)),  # nobody can tell which of the pair
        ([(2, 0), (2, 1), (2, 3)], (2,)),
        ([(0, 2), (1, 2), (2, 3)], (2,)),  # half of all comparisons
        ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], (0, 1)),
        ([(0, 1), (2, 3)], (0, 1, 2, 3)),
        ([(1, 0), (1, 2), (1, 3), (2, 2)], (1, 2)),
        ([(0, 1), (0, 3), (2, 1), (2, 3)], ()),  # as well 0 and 2 as 1 and 3
    ],
)
def test_of_rows_compared_with_rows_those_that_all_bad_comparisons_have(bad: list[_Place], rows: _Place) -> None:
    assert _rows((4, 4), *bad) == rows


def test_of_axes_that_are_parts_of_the_batch_a_row_is_behind_all() -> None:
    assert _rows((2, 2), (1, 0), behind=[(2, 3), (0, 2)]) == (2,)
    assert _rows((2, 2), (1, 0), behind=[(3,), (0, 2)]) == (3,)  # they have none in common


def test_rows_may_be_compared_where_two_axes_are_as_long_as_the_batch() -> None:
    four = BatchRows((1,), "x:0", 4)
    assert may_compare_rows(np.ones((4, 4), np.bool_), four)
    assert not may_compare_rows(np.ones((4, 3), np.bool_), four)
