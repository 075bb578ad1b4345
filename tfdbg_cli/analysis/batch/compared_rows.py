"""The rows to blame where several axes of what is bad lead to one batch, as where rows are compared with rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.explaining_rows import Explanation, explaining_rows
from tfdbg_cli.model.values import Array

_MOST_COMPARISONS = 20_000  # that are looked at one by one


def along_axes(bad: Array, *axes: int) -> Array:
    """Which places along `axes` have an element where `bad` is True."""
    return np.asarray(bad.any(axis=tuple(i for i in range(bad.ndim) if i not in axes)))


def may_compare_rows(bad: Array, found: BatchRows) -> bool:
    """Whether two axes or more are as long as the batch, as where rows are compared with rows."""
    return bad.shape.count(found.size) > 1


def rows_of_several_axes(behind: Mapping[int, BatchRows], bad: Array) -> Explanation:
    """The rows to blame where several axes of `bad` lead to one batch, to rows of it that `behind` has by axis.

    Where each of two axes or more is the batch, rows were compared with rows, and there are none if what is bad does
    not tell which. Otherwise the axes are parts of that of the batch, as of `[8, 4]` that became `[2, 4, 4]`, and a
    row has to be behind all of them.
    """
    rows = [set(found.rows) for found in behind.values()]
    whole = [axis for axis, found in behind.items() if _is_the_batch(found, along_axes(bad, axis))]
    if len(whole) < 2:
        fewest = min(behind.values(), key=lambda found: len(found.rows))
        return Explanation(tuple(sorted(set.intersection(*rows))) or fewest.rows)
    return _compared(along_axes(bad, *whole))


def _compared(bad: Array) -> Explanation:
    """The rows to blame where rows were compared with rows, and some of these are bad; none where that is not clear.

    Those that all bad comparisons have: one row, or both of a pair. Else, of pairs, those that are bad beside all
    others (a comparison with itself, and half of all, may be left out), if no other pair is bad. Else the fewest that
    explain all.
    """
    places = np.argwhere(bad)
    in_all = [row for row in set(places[0].tolist()) if (places == row).any(axis=1).all()]
    if in_all:
        return Explanation(tuple(sorted(in_all)))
    if bad.ndim == 2:
        either = bad | bad.T | np.eye(len(bad), dtype=np.bool_)
        blamed = np.flatnonzero(either.all(axis=1))
        if not np.delete(np.delete(bad, blamed, 0), blamed, 1).any():
            return Explanation(tuple(map(int, blamed)))
    return explaining_rows(places.tolist()) if len(places) <= _MOST_COMPARISONS else Explanation()


def _is_the_batch(found: BatchRows, along: Array) -> bool:
    """Whether an axis with bad elements at these places `along` it has the rows of the batch in their order."""
    return found.size == len(along) and found.rows == tuple(map(int, np.flatnonzero(along)))
