"""Numbers of very many rows of an index, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.model.values import Array

_AT_ONCE = 1 << 17  # rows that are in one text
_IN_A_STEP = 1 << 11  # rows that are read between two looks at the keyboard
_NONE = np.empty(0, np.int64)
# Rows that do not hold what tfdbg writes are skipped, as they are when read one by one.
_COUNTS = ("place", "size", "nan", "neg_inf", "pos_inf", "neg", "zero", "pos", "of_magnitude")
_SOUND = " AND ".join(chain(
    (f"typeof({count}) = 'integer' AND {count} >= 0" for count in _COUNTS),
    (f"typeof({moment}) IN ('real', 'null')" for moment in ("min", "max", "mean", "std")),
))  # fmt: skip
_SPREAD = 4  # if their range is less than so many times their count, numbers are counted in a table, not sorted


def read_numbers(index: Index, columns: Sequence[str], run: int, count: int) -> list[Array]:
    """Read `columns` of the `count` tensors of `run` as int64 arrays, in the order of their places; -1 for NULL.

    Reading several columns at once costs little more than one, since each row has to be found anyway.

    Raises:
        DamagedIndexError: the database is damaged, or a column holds something else than integers.

    """
    wanted = ", ".join(f"coalesce({column}, -1) AS {column}_" for column in columns)
    question = f"SELECT {wanted} FROM tensors WHERE run = {run:d} AND place >= "
    parts = [
        index.listed(
            f"{question}{start} AND place < {start + _AT_ONCE} ORDER BY place", *(f"{column}_" for column in columns)
        )
        for start in range(0, count, _AT_ONCE)
    ]
    found = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [_NONE] * len(columns)
    for column, numbers in zip(columns, found, strict=True):
        if len(numbers) != count:
            raise DamagedIndexError(f"The index is damaged: {column} holds what is no number.")
    return found


def statistics_in_steps(
    index: Index, names: Sequence[str], run: int, count: int
) -> Iterator[tuple[Array, list[Array], float]]:
    """Yield the statistics called `names` of the `count` tensors of `run`, in steps.

    Each step gives the places (int64) of tensors with statistics, an array (float64, NaN for NULL) for each name,
    and the share done by then. Rows that hold something else than numbers are skipped.

    Raises:
        DamagedIndexError: the database is damaged.

    """
    question = f"SELECT place, {', '.join(names)} FROM summaries WHERE run = ? AND place >= ? AND place < ?"
    question += f" AND {_SOUND}"
    for start in range(0, count, _IN_A_STEP):
        end = min(start + _IN_A_STEP, count)
        rows = index.rows(question, run, start, end)
        places, *columns = np.array(rows, np.float64).reshape(len(rows), 1 + len(names)).T
        yield places.astype(np.int64), columns, end / count


def distinct(numbers: Array) -> tuple[Array, Array]:
    """As `np.unique(numbers, return_inverse=True)` of integers, and faster where they are dense."""
    if not len(numbers):
        return numbers, np.empty(0, np.int64)
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= _SPREAD * len(numbers):
        found, which = np.unique(numbers, return_inverse=True)
        return found, which.reshape(-1)
    there = np.zeros(most - least + 1, bool)
    there[numbers - least] = True
    return np.flatnonzero(there) + least, (np.cumsum(there) - 1)[numbers - least]
