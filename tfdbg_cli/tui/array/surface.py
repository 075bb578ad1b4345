"""What an array is drawn on: the room there is, what the terminal can show, and rows of text with their looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tfdbg_cli.document.cells import clip, display_width

# A text and the names of its look, the innermost first: styles of a document, parts of a screen, steps of a ramp.
Run: TypeAlias = tuple[str, tuple[str, ...]]
Row: TypeAlias = list[Run]

_RICH = 256  # colours from which on a ramp of colours can be told apart


@dataclass(frozen=True, slots=True)
class Surface:
    """Columns and rows to draw in, how many colours there are (1: none), whether glyphs beyond ASCII show."""

    cols: int
    rows: int
    colors: int = 1
    glyphs: bool = True

    @property
    def coloured(self) -> bool:
        """Whether colours and half blocks may stand for numbers; else a ramp of characters does."""
        return self.colors >= _RICH and self.glyphs


@dataclass(frozen=True, slots=True)
class CellGrid:
    """Which elements stand where: the first column and row of their cells, how wide one is, and what is in them.

    `rows` and `columns` are those of the plane, None at a gap.
    """

    left: int
    top: int
    width: int
    rows: Sequence[int | None]
    columns: Sequence[int | None]

    def at(self, col: int, row: int) -> tuple[int, int] | None:
        """The row and the column of the plane at a place of the screen; None where there is no element."""
        down, across = row - self.top, (col - self.left) // self.width
        if not (0 <= down < len(self.rows) and 0 <= across < len(self.columns)):
            return None
        place, other = self.rows[down], self.columns[across]
        return None if place is None or other is None else (place, other)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The rows of one way to look at an array, from the top, where the cursor stands, and where the elements are."""

    rows: list[Row]
    cursor: tuple[int, int] | None = None
    cells: CellGrid | None = None


def fitted(row: Row, cols: int) -> Row:
    """`row` in at most `cols` columns; what does not fit gives way to `…`."""
    kept: Row = []
    for text, look in row:
        short = clip(text, cols)
        kept.append((short, look))
        cols -= display_width(short)
        if short != text:
            break
    return kept


def joined(runs: Row) -> Row:
    """`runs` with neighbours of one look joined, and empty ones dropped."""
    found: Row = []
    for text, look in runs:
        if not text:
            continue
        if found and found[-1][1] == look:
            found[-1] = (found[-1][0] + text, look)
        else:
            found.append((text, look))
    return found
