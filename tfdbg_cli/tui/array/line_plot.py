"""A row of the plane as a curve in braille, over the whole width of the screen."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.text import Style
from tfdbg_cli.model.statistics import widened
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.levels import NAN, NEG_INF, POS_INF, SIGNS, Scale
from tfdbg_cli.tui.array.numbers import CURSOR
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import Drawn, Row, Run, Surface, fitted, joined

_ACROSS, _DOWN = 2, 4  # dots of a cell
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of its left and right column, from the top
_EXACT = 1 << 17  # numbers of a row of which each is seen; of a longer one some are picked
_PICKED = 1 << 12
HERE = "^"  # marks the cursor below the curve


def line_plot(array: Array, plane: Plane, surface: Surface) -> Drawn:
    """The row of the cursor from left to right, marks below it for what is not finite and for the cursor."""
    numbers, of = _read(plane.elements(array)[plane.row])
    kept = numbers[np.isfinite(numbers)]
    scale = (
        Scale(float(kept.min()), float(kept.max()), exact=of == 1) if kept.size else Scale(0.0, 0.0, exact=of == 1)
    )
    head = max(len(number_text(scale.low)), len(number_text(scale.high))) + 1
    wide, high = max(1, surface.cols - head), max(1, surface.rows - 2)
    dots = _curve(numbers, scale, wide * _ACROSS, high * _DOWN)
    drawn: list[Row] = []
    for row in range(high):
        edge = number_text(scale.high) if row == 0 else number_text(scale.low) if row == high - 1 else ""
        cells = dots[row * _DOWN : (row + 1) * _DOWN]
        text = _braille(cells) if surface.glyphs else _marks(cells)
        drawn.append([(f"{edge:>{head - 1}} ", (Style.DIM,)), (text, (Style.NUMBER,))])
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


def _curve(numbers: Array, scale: Scale, wide: int, high: int) -> Array:
    """Which of `high` by `wide` dots lie on the curve; neighbours are joined, what is not finite leaves a gap."""
    dots = np.zeros((high, wide), np.bool_)
    width = scale.high / 2 - scale.low / 2
    with np.errstate(invalid="ignore"):
        share = (numbers / 2 - scale.low / 2) / width if width else numbers * 0 + 0.5
    heights = (1 - share) * (high - 1)
    if numbers.size >= wide:
        groups = np.arange(wide) * numbers.size // wide
        finite = np.isfinite(heights)
        least = np.minimum.reduceat(np.where(finite, heights, np.inf), groups)
        most = np.maximum.reduceat(np.where(finite, heights, -np.inf), groups)
    else:
        spots = (np.arange(wide) + 0.5) * numbers.size / wide - 0.5
        least = most = np.interp(spots, np.arange(numbers.size), np.where(np.isfinite(heights), heights, np.nan))
    before: tuple[int, int] | None = None
    for column in range(wide):
        if not (np.isfinite(least[column]) and np.isfinite(most[column])):
            before = None
            continue
        low, far = round(float(least[column])), round(float(most[column]))
        top = low if before is None else min(low, before[1] + 1)
        bottom = far if before is None else max(far, before[0] - 1)
        dots[top : bottom + 1, column] = True
        before = (low, far)
    return dots


def _braille(dots: Array) -> str:
    """Four rows of dots as one row of characters."""
    codes = np.full(dots.shape[1] // _ACROSS, _BRAILLE)
    for side, bits in enumerate(_DOTS):
        for depth, bit in enumerate(bits):
            codes += dots[depth, side::_ACROSS] * bit
    return "".join(map(chr, codes.tolist()))


def _marks(dots: Array) -> str:
    """The same where there are no such characters."""
    cells = np.asarray(dots.any(axis=0)).reshape(-1, _ACROSS).any(axis=1)
    return "".join(np.where(cells, "*", " "))


def _signs(numbers: Array, wide: int) -> list[tuple[str, Style]]:
    """Below each column what is not finite in it: a NaN before an infinity."""
    found: list[tuple[str, Style]] = [(" ", Style.PLAIN)] * wide
    for test, sign in ((np.isneginf, NEG_INF), (np.isposinf, POS_INF), (np.isnan, NAN)):
        for place in np.flatnonzero(test(numbers)).tolist():
            found[place * wide // numbers.size] = SIGNS[sign]
    return found
