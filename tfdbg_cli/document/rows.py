"""Any number of lines, each made when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

from tfdbg_cli.document.text import Line


@dataclass(frozen=True)
class Rows:
    """`count` lines, the i-th given by `make(i)`; the front end wraps or clips them."""

    count: int
    make: Callable[[int], Line]

    def lines(self, width: int | None) -> Sequence[Line]:
        return _RowLines(self)


class _RowLines(Sequence[Line]):
    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows.count

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self._rows.make(index)
