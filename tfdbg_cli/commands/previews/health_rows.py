"""Tensors of a preview in a table with the health of each: counted later on a screen, at once elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.health_columns import CountedLater, health_cells
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line

_LEFT_OUT = frozenset({"source"})
_SHORT = ("nan", "inf", "absmax", "histogram")
_UNKNOWN = Span("?", Style.WARNING)


@dataclass(frozen=True, slots=True)
class HealthRow:
    """A tensor by its index in the run (None: nothing of it was captured), what to call it, and what made it."""

    index: int | None
    name: Span
    op: Span


class _Counted:
    """Counts the rows that have a tensor."""

    def __init__(self, context: Context, rows: Sequence[HealthRow]) -> None:
        indices = [row.index for row in rows if row.index is not None]
        places = [at for at, row in enumerate(rows) if row.index is not None]
        self._order = {at: n for n, at in enumerate(places)}
        self._counted = CountedLater(context, indices) if indices else None

    def missing(self, row: int) -> bool:
        return self._counted is not None and row in self._order and self._counted.missing(self._order[row])

    def count(self, row: int) -> Iterator[None]:
        if self._counted is not None:
            yield from self._counted.count(self._order[row])


def own_health(context: Context, index: int) -> tuple[Block, ...]:
    """The health of one tensor under the heads of its columns."""
    cells = [cell for cell in health_cells(context) if cell[0] not in _LEFT_OUT]
    nothing = HealthRow(index, Span(""), Span(""))
    columns = (*(column for _, column, _ in cells), Column(""))

    def row(at: int) -> Row:
        return (*(show(index) for _, _, show in cells), Span(""))

    return (_table(context, columns, [nothing], row),)


def health_section(
    context: Context, heading: Span, rows: Sequence[HealthRow], more: Span | None
) -> tuple[Block, ...]:
    """A heading and `rows` under it; `more` leads to those that are left out."""
    known = {name: (column, show) for name, column, show in health_cells(context)}
    cells = [known[name] for name in _SHORT]
    columns = (*(column for column, _ in cells), Column("Op type", drop=20), Column("Tensor", keep_end=True))

    def row(at: int) -> Row:
        item = rows[at]
        index = item.index
        if index is None:
            return (_UNKNOWN, _UNKNOWN, *(Span(""),) * (len(cells) - 2), item.op, item.name)
        return (*(show(index) for _, show in cells), item.op, item.name)

    below = (Text((line("  ", more),)),) if more is not None else ()
    return (Text((EMPTY_LINE, line(heading))), _table(context, columns, rows, row), *below)


def _table(
    context: Context, columns: Sequence[Column], rows: Sequence[HealthRow], row: Callable[[int], Row]
) -> Table:
    later = _Counted(context, rows)
    if not context.later:
        for at in range(len(rows)):
            for _ in later.count(at) if later.missing(at) else ():
                pass
    return Table(tuple(columns), len(rows), row, later=later if context.later else None)
