"""The chosen row of a table, found again when the table comes in another order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfdbg_cli.document.table import Table
from tfdbg_cli.tui.reading.viewport import Viewport

_AT_ONCE = 200  # rows looked at between two chances to look at the keyboard


@dataclass(frozen=True, slots=True)
class ChosenRow:
    """A row of the table that is block `block`: in `column` it has a `link` that no other has.

    `above` are the lines of the window over it.
    """

    block: int
    column: int
    link: str
    above: int


def chosen_row(view: Viewport) -> ChosenRow | None:
    """The row that is selected; None when it is no row of a table, or leads nowhere.

    The first row, where every list begins, was not chosen: there the new order is looked at from its beginning.
    """
    chosen = view.chosen
    for number, (part, block) in enumerate(zip(view.parts, view.document.blocks, strict=True)):
        row = view.selected - part.start - part.headed
        if chosen is not None and isinstance(block, Table) and part.headed and 0 < row < block.count:
            cells = block.row(row)
            for column in range(len(block.columns)):
                if cells[column].link == chosen.link:
                    return ChosenRow(number, column, chosen.link, view.selected - view.top)
    return None


def go_to_row(view: Viewport, row: ChosenRow) -> Iterator[float]:
    """Select that row in `view`, where it has one, as far below the top of the window as it was.

    It is looked for in steps, each giving the share of the rows that were looked at; whoever moves meanwhile stays.
    """
    block = view.document.blocks[row.block] if row.block < len(view.document.blocks) else None
    if not isinstance(block, Table) or row.column >= len(block.columns):
        return
    before = view.selected
    for number in range(block.count):
        if block.row(number)[row.column].link == row.link:
            part = view.parts[row.block]
            line = part.start + part.headed + number
            view.top = max(0, line - row.above)
            view.go(line)
            return
        if number % _AT_ONCE == _AT_ONCE - 1:
            yield number / block.count
            if view.selected != before:
                return
