"""Any number of lines, each made when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfdbg_cli.document.later import Later
from tfdbg_cli.document.lazy_lines import LazyLines
from tfdbg_cli.document.text import Line


@dataclass(frozen=True)
class Rows:
    """`count` lines, the i-th given by `make(i)`; the front end wraps or clips them.

    `fit` makes a line that fits, or is shorter at least, of one and the width that there is.
    """

    count: int
    make: Callable[[int], Line]
    later: Later | None = None
    fit: Callable[[Line, int], Line] | None = None

    def lines(self, width: int | None) -> Sequence[Line]:
        return _RowLines(self, width)


class _RowLines(LazyLines):
    def __init__(self, rows: Rows, width: int | None) -> None:
        self._rows, self._width = rows, width

    def __len__(self) -> int:
        return self._rows.count

    def line_at(self, index: int) -> Line:
        """The line at `index`; see LazyLines."""
        made, fit = self._rows.make(index), self._rows.fit
        return made if fit is None or self._width is None else fit(made, self._width)
