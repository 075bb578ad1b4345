"""Tensors of a preview in a table with the health of each: counted later on a screen, at once elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.lists.health_columns import (
    TO_COME,
    CountedLater,
    counted,
    health_cell,
    health_cells,
    histogram_cell,
)
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.values import Array

_LEFT_OUT = frozenset({"source"})
_SHORT = ("nan", "inf", "absmax", "histogram")
_COUNTS = frozenset({"nan", "inf"})
_UNKNOWN = Span("?", Style.WARNING)


@dataclass(frozen=True, slots=True)
class HealthRow:
    """A tensor by its index in the run (None: nothing of it was captured), what to call it, and what made it.

    `given` reads what the run was given in its place, which no tensor shows.
    """

    index: int | None
    name: Span
    op: Span
    given: Callable[[], Array | None] | None = None


class _Counted:
    """Counts the rows that have a tensor, and those of what the run was given."""

    def __init__(self, context: Context, rows: Sequence[HealthRow]) -> None:
        indices = [row.index for row in rows if row.index is not None]
        places = [at for at, row in enumerate(rows) if row.index is not None]
        self._order = {at: n for n, at in enumerate(places)}
        self._counted = CountedLater(context, indices) if indices else None
        self._given = {at: row.given for at, row in enumerate(rows) if row.index is None and row.given is not None}
        self._found: dict[int, tuple[Summary | None, tuple[int, ...]]] = {}

    def missing(self, row: int) -> bool:
        if row in self._given:
            return row not in self._found
        return self._counted is not None and row in self._order and self._counted.missing(self._order[row])

    def count(self, row: int) -> Iterator[None]:
        if row in self._given:
            value = self._given[row]()
            self._found[row] = (None, ()) if value is None else (yield from counted(value, None))
        elif self._counted is not None:
            yield from self._counted.count(self._order[row])

    def given_cell(self, row: int, name: str) -> Span:
        """The cell of the column called `name` in a row that has no tensor."""
        if self.missing(row):
            return TO_COME
        summary, counts = self._found.get(row, (None, ()))
        if summary is None:
            return _UNKNOWN if name in _COUNTS else Span("")
        return histogram_cell(counts) if name == "histogram" else health_cell(name, summary)


def own_health(context: Context, index: int) -> tuple[Block, ...]:
    """The health of one tensor under the heads of its columns."""
    cells = [cell for cell in health_cells(context) if cell[0] not in _LEFT_OUT]
    nothing = HealthRow(index, Span(""), Span(""))
    columns = (*(column for _, column, _ in cells), Column(""))

    def row(at: int) -> Row:
        return (*(show(index) for _, _, show in cells), Span(""))

    return (_table(context, columns, 1, row, _Counted(context, [nothing])),)


def health_section(
    context: Context, heading: Span, rows: Sequence[HealthRow], more: Span | None
) -> tuple[Block, ...]:
    """A heading and `rows` under it; `more` leads to those that are left out."""
    known = {name: (column, show) for name, column, show in health_cells(context)}
    cells = [known[name] for name in _SHORT]
    columns = (*(column for column, _ in cells), Column("Op type", drop=20), Column("Tensor", keep_end=True))

    later = _Counted(context, rows)

    def row(at: int) -> Row:
        item = rows[at]
        index = item.index
        if index is None:
            return (*(later.given_cell(at, name) for name in _SHORT), item.op, item.name)
        return (*(show(index) for _, show in cells), item.op, item.name)

    below = (Text((line("  ", more),)),) if more is not None else ()
    return (Text((EMPTY_LINE, line(heading))), _table(context, columns, len(rows), row, later), *below)


def _table(
    context: Context, columns: Sequence[Column], count: int, row: Callable[[int], Row], later: _Counted
) -> Table:
    if not context.later:
        for at in range(count):
            for _ in later.count(at) if later.missing(at) else ():
                pass
    return Table(tuple(columns), count, row, later=later if context.later else None)
