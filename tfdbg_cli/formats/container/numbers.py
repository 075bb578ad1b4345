"""Numbers of very many rows of an index, as arrays."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.model.values import Array

_AT_ONCE = 1 << 17  # rows that are in one text
_SPREAD = 4  # numbers that lie no further apart than so many times their count are told apart by a table


def read_numbers(index: Index, column: str, run: int, count: int) -> Array:
    """The numbers in `column` of the `count` tensors of `run`, in the order of their places; -1 where there is none.

    Raises:
        DamagedIndexError: the database is damaged there, or a number is none.

    """
    question = f"SELECT coalesce({column}, -1) AS number FROM tensors WHERE run = {run:d} AND place >= "
    parts = [
        index.listed(f"{question}{start} AND place < {start + _AT_ONCE} ORDER BY place")
        for start in range(0, count, _AT_ONCE)
    ]
    numbers = np.concatenate(parts) if parts else np.empty(0, np.int64)
    if len(numbers) != count:
        raise DamagedIndexError(f"The index is damaged: {column} holds what is no number.")
    return numbers


def distinct(numbers: Array) -> tuple[Array, Array]:
    """The numbers that there are, ascending, and for each of `numbers` its place among them."""
    if not len(numbers):
        return numbers, np.empty(0, np.int64)
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= _SPREAD * len(numbers):
        found, which = np.unique(numbers, return_inverse=True)
        return found, which.reshape(-1)
    there = np.zeros(most - least + 1, bool)
    there[numbers - least] = True
    return np.flatnonzero(there) + least, (np.cumsum(there) - 1)[numbers - least]
