"""A second, packed copy of the columns of a run with very many tensors, which is read at once instead of row by row.

It consists of two contents of the index: facts, which all runs of a program share, and places, which belong to one
run. Each begins with two unsigned 64-bit numbers, the run (0: any) and the number of tensors. Then follows each
column: a byte that gives the width of a number in bytes (1, 2, 4 or 8), and signed little-endian numbers, each the
difference to the value before (the first to 0). A NULL in the row is -1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.model.values import Array

WORTH = 10_000
"""The least number of tensors for packed columns: of fewer, reading the rows is fast enough."""

FACTS: Mapping[str, int] = {
    "node": 2, "slot": 3, "device": 4, "execution": 5, "dtype": 6, "op_type": 7, "shape": 8, "bytes": 9,
}  # fmt: skip
"""The columns of facts, by name, with where they stand in a row."""
PLACES: Mapping[str, int] = {"lack": 11, "file": 12, "offset": 13, "stored": 14, "encoding": 15}
"""The columns that say where elements lie, in the same way."""

_HEAD = struct.Struct("<QQ")
_WIDTHS = (1, 2, 4, 8)


def packed(rows: Sequence[tuple[Any, ...]], columns: Mapping[str, int], run: int = 0) -> bytes:
    """The content that holds `columns` of `rows`, the rows of all tensors of a run."""
    return b"".join(chain((_HEAD.pack(run, len(rows)),), *(_column(rows, at) for at in columns.values())))


def _column(rows: Sequence[tuple[Any, ...]], at: int) -> Iterator[bytes]:
    numbers = np.fromiter((-1 if row[at] is None else row[at] for row in rows), np.int64, len(rows))
    steps = np.diff(numbers, prepend=0)
    width = np.min_scalar_type(_widest(steps)).itemsize
    yield bytes([width])
    yield steps.astype(f"<i{width}").tobytes()


def _widest(steps: Array) -> int:
    """A negative number whose signed width suffices for all of `steps`."""
    return min(-1, int(steps.min(initial=0)), -1 - int(steps.max(initial=0)))


@dataclass(frozen=True, slots=True)
class PackedColumns:
    """Packed columns of a run: by name, the differences (`steps`) from each number to the next."""

    steps: Mapping[str, Array]

    @staticmethod
    def read(index: Index, content: int, columns: Mapping[str, int], count: int, run: int = 0) -> PackedColumns:
        """Read them from content number `content` of `index`; `count` is the number of tensors of the run.

        Raises:
            DamagedIndexError: it is not what `packed` makes of such a run.

        """
        octets = index.content(content)
        if len(octets) < _HEAD.size or _HEAD.unpack_from(octets) != (run, count):
            raise DamagedIndexError(f"The index is damaged: content {content} holds no columns of run {run}.")
        steps: dict[str, Array] = {}
        at = _HEAD.size
        for name in columns:
            width = octets[at] if at < len(octets) else 0
            if width not in _WIDTHS or at + 1 + count * width > len(octets):
                raise DamagedIndexError(f"The index is damaged: content {content} ends before {name}.")
            steps[name] = np.frombuffer(octets, f"<i{width}", count, at + 1)
            at += 1 + count * width
        return PackedColumns(steps)

    def numbers(self, name: str) -> Array:
        """The numbers in the column `name`, in the order of execution; -1 where there is none."""
        found: Array = np.cumsum(self.steps[name], dtype=np.int64)
        return found
