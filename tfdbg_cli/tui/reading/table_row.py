"""The chosen row of a table, found again when the table comes in another order."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.document.table import Table
from tfdbg_cli.tui.reading.viewport import Viewport


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


def go_to_row(view: Viewport, row: ChosenRow) -> None:
    """Select that row in `view`, where it has one, as far below the top of the window as it was."""
    block = view.document.blocks[row.block] if row.block < len(view.document.blocks) else None
    if not isinstance(block, Table) or row.column >= len(block.columns):
        return
    found = next((i for i in range(block.count) if block.row(i)[row.column].link == row.link), None)
    if found is not None:
        part = view.parts[row.block]
        line = part.start + part.headed + found
        view.top = max(0, line - row.above)
        view.go(line)
