"""Curves as characters: each cell of the screen holds two by four dots of braille (Unicode 2800 to 28FF)."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.model.values import Array

ACROSS, DOWN = 2, 4  # dots of a cell
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of its left and right column, from the top


def curve(numbers: Array, low: float, high: float, cells: tuple[int, int]) -> list[str]:
    """`numbers` (one-dimensional, float64) from left to right as rows of characters, from the top.

    They fill `cells`, columns and rows, of which the top stands for `high` and the bottom for `low`. Neighbours are
    joined, what is not finite leaves a gap.
    """
    dots = _dots(numbers, low, high, cells[0] * ACROSS, cells[1] * DOWN)
    return [_braille(dots[row * DOWN : (row + 1) * DOWN]) for row in range(cells[1])]


def _dots(numbers: Array, low: float, high: float, wide: int, tall: int) -> Array:
    """Which of `tall` by `wide` dots lie on the curve."""
    dots = np.zeros((tall, wide), np.bool_)
    width = high / 2 - low / 2  # halves, since the range of the largest numbers overflows
    with np.errstate(invalid="ignore"):
        share = (numbers / 2 - low / 2) / width if width else numbers * 0 + 0.5
    heights = (1 - share) * (tall - 1)
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
        near, far = round(float(least[column])), round(float(most[column]))
        top = near if before is None else min(near, before[1] + 1)
        bottom = far if before is None else max(far, before[0] - 1)
        dots[top : bottom + 1, column] = True
        before = (near, far)
    return dots


def _braille(dots: Array) -> str:
    """Four rows of dots as one row of characters."""
    codes = np.full(dots.shape[1] // ACROSS, _BRAILLE)
    for side, bits in enumerate(_DOTS):
        for depth, bit in enumerate(bits):
            codes += dots[depth, side::ACROSS] * bit
    return "".join(map(chr, codes.tolist()))
