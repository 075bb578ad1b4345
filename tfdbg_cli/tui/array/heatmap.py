"""A heatmap: each element of the plane two columns wide, in a colour or as a character."""

from __future__ import annotations

from functools import lru_cache

from tfdbg_cli.document.text import Style
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.levels import Scale, character, ground, legend
from tfdbg_cli.tui.array.numbers import CURSOR, Corner
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import CellGrid, Drawn, Row, Run, Surface, fitted, joined
from tfdbg_cli.tui.array.track import window

_CELL = 2


def heatmap(array: Array, plane: Plane, scale: Scale, corner: Corner, surface: Surface) -> tuple[Drawn, Corner]:
    """The elements around the cursor that fit, one below another, and which corner that is."""
    high = max(1, surface.rows - 1)
    head = len(str(plane.height - 1)) + 1
    wide = max(1, (surface.cols - head) // _CELL)
    top = window(corner.top, plane.row, high, plane.height)
    left = window(corner.left, plane.col, wide, plane.width)
    shown = plane.elements(array)[top : top + high, left : left + wide]
    drawn: list[Row] = []
    for row, steps in enumerate(scale.levels(shown).tolist(), top):
        look = Style.TITLE if row == plane.row else Style.DIM
        runs: Row = [(f"{row:>{head - 1}} ", (look,))]
        here = plane.col if row == plane.row else None
        runs += [_cell(level, col == here, surface.coloured) for col, level in enumerate(steps, left)]
        drawn.append(joined(runs))
    drawn.append(fitted(legend(scale, coloured=surface.coloured), surface.cols))
    rows, columns = range(top, top + shown.shape[0]), range(left, left + shown.shape[1])
    cursor = head + (plane.col - left) * _CELL, plane.row - top
    return Drawn(drawn, cursor, CellGrid(head, 0, _CELL, rows, columns)), Corner(top, left)


@lru_cache(maxsize=256)
def _cell(level: int, here: bool, coloured: bool) -> Run:
    sign, style = character(level)
    if here:
        return ((sign if level < 0 or not coloured else " ") * _CELL, (style, CURSOR) if level < 0 else (CURSOR,))
    if level < 0 or not coloured:
        return (sign * _CELL, (style,))
    return (" " * _CELL, (ground(level),))
