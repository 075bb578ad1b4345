"""A row of the plane as a curve in braille, over the whole width of the screen."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.document.braille import curve
from tfdbg_cli.document.scale_labels import scale_labels
from tfdbg_cli.document.text import Style
from tfdbg_cli.model.statistics import widened
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.levels import NAN, NEG_INF, POS_INF, SIGNS, Scale
from tfdbg_cli.tui.array.numbers import CURSOR
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import Drawn, Row, Run, Surface, fitted, joined

_EXACT = 1 << 17  # numbers of a row of which each is seen; of a longer one some are picked
_PICKED = 1 << 12
HERE = "^"  # marks the cursor below the curve


def line_plot(array: Array, plane: Plane, surface: Surface) -> Drawn:
    """The row of the cursor from left to right, marks below it for what is not finite and for the cursor."""
    numbers, of = _read(plane.elements(array)[plane.row])
    kept = numbers[np.isfinite(numbers)]
    scale = Scale.of(kept, exact=of == 1)
    high = max(1, surface.rows - 2)
    labels = [""] * high if scale.empty else scale_labels(scale.low, scale.high, high)
    head = max(map(len, labels)) + 1
    wide = max(1, surface.cols - head)
    cells = curve(numbers, scale.low, scale.high, (wide, high))
    drawn: list[Row] = [
        [(f"{label:>{head - 1}} ", (Style.DIM,)), (row, (Style.NUMBER,))]
        for label, row in zip(labels, cells, strict=True)
    ]
    at = plane.col * wide // plane.width
    signs = _signs(numbers, wide)
    row_of_signs: list[Run] = [(sign, (style,)) for sign, style in signs]
    row_of_signs[at] = (signs[at][0] if signs[at][0] != " " else HERE, (signs[at][1], CURSOR))
    drawn.append(joined([(" " * head, ()), *row_of_signs]))
    note = f", 1 of {of:,} numbers is shown" if of > 1 else ""
    words = f"row {plane.row} of {plane.height:,}, {plane.width:,} numbers{note}"
    drawn.append(fitted([(" " * head, ()), (words, (Style.DIM,))], surface.cols))
    return Drawn(drawn, (head + at, high))


def _read(row: Array) -> tuple[Array, int]:
    """The numbers of a row, some of them where there are too many, and how many each stands for."""
    of = 1 if row.size <= _EXACT else -(-row.size // _PICKED)
    return widened(row[::of]), of


def _signs(numbers: Array, wide: int) -> list[tuple[str, Style]]:
    """Below each column what is not finite in it: a NaN before an infinity."""
    found: list[tuple[str, Style]] = [(" ", Style.PLAIN)] * wide
    for test, sign in ((np.isneginf, NEG_INF), (np.isposinf, POS_INF), (np.isnan, NAN)):
        for place in np.flatnonzero(test(numbers)).tolist():
            found[place * wide // numbers.size] = SIGNS[sign]
    return found
