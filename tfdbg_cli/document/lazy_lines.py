"""Sequences of lines that are made when they are looked at."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import overload

from tfdbg_cli.document.text import Line


class LazyLines(Sequence[Line]):
    """A sequence whose lines a subclass makes one by one, by an index from 0 to its length less 1."""

    @abstractmethod
    def line_at(self, index: int) -> Line:
        """The line at `index`, which is within the sequence."""

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            return [self.line_at(i) for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.line_at(index)
