"""The columns of a run with very many tensors once more, packed: had at once, where its rows are read one by one.

They are two contents of the index: facts, which all runs of a program share, and places, which belong to one run.
Each is two numbers of 64 bits, the run (0: any) and how many tensors there are; then, of each column, a byte that
says how many bytes a number has, and the numbers, little endian: by how much each is more than the one before, the
first more than 0. What is NULL in a row is -1.
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
"""A run of fewer tensors has its rows read before anybody notices."""

FACTS: Mapping[str, int] = {
    "node": 2, "slot": 3, "device": 4, "execution": 5, "dtype": 6, "op_type": 7, "shape": 8, "bytes": 9,
}  # fmt: skip
"""The columns of facts, by name, with where they stand in a row."""
PLACES: Mapping[str, int] = {"lack": 11, "file": 12, "offset": 13, "stored": 14, "encoding": 15}
"""The columns that say where elements lie, in the same way."""

_HEAD = struct.Struct("<QQ")
_WIDTHS = (1, 2, 4, 8)


def packed(rows: Sequence[tuple[Any, ...]], columns: Mapping[str, int], run: int = 0) -> bytes:
    """The content that tells `columns` of `rows`, which are those of all tensors of a run."""
    return b"".join(chain((_HEAD.pack(run, len(rows)),), *(_column(rows, at) for at in columns.values())))


def _column(rows: Sequence[tuple[Any, ...]], at: int) -> Iterator[bytes]:
    numbers = np.fromiter((-1 if row[at] is None else row[at] for row in rows), np.int64, len(rows))
    steps = np.diff(numbers, prepend=0)
    width = np.min_scalar_type(_widest(steps)).itemsize
    yield bytes([width])
    yield steps.astype(f"<i{width}").tobytes()


def _widest(steps: Array) -> int:
    """A negative number for which there must be as many bytes as for each of `steps`."""
    return min(-1, int(steps.min(initial=0)), -1 - int(steps.max(initial=0)))


@dataclass(frozen=True, slots=True)
class PackedColumns:
    """Columns of a run, by name the `steps` from each number to the next."""

    steps: Mapping[str, Array]

    @staticmethod
    def read(index: Index, content: int, columns: Mapping[str, int], count: int, run: int = 0) -> PackedColumns:
        """Those in the content of `index` with that number.

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
