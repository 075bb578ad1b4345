"""How many of the tensors of a list have no numbers since nobody can read their values."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.commands.context import Context
from tfdbg_cli.model.values import LOST

_MOST_ROWS = 2000
_MOST_BYTES = 64 << 20  # read before the first row of the list is shown


def beginning(context: Context, indices: Sequence[int]) -> Sequence[int]:
    """The first of `indices`: as many as can be read without keeping anybody waiting."""
    size = 0
    for number, index in enumerate(indices[:_MOST_ROWS]):
        size += context.run.tensors[index].nbytes or 0
        if size > _MOST_BYTES:
            return indices[:number]
    return indices[:_MOST_ROWS]


def unread_among(context: Context, indices: Sequence[int]) -> int:
    """How many of the tensors at `indices` have neither a value that can be read nor numbers that were recorded."""
    return sum(context.lack(index) in LOST for index in indices)
