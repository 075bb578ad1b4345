"""A picture: the whole plane at once, two pixels in a cell of the screen, or characters without colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tfdbg_cli.document.text import Style
from tfdbg_cli.model.statistics import widened
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.levels import SIGNS, Scale, character, ground, ink, legend
from tfdbg_cli.tui.array.plane import Plane
from tfdbg_cli.tui.array.surface import Drawn, Row, Run, Surface, fitted, joined

_HALF = "▀"
_EXACT = 1 << 17  # elements of a plane of which each is seen; of larger ones some are picked


@dataclass(frozen=True, slots=True)
class Pixels:
    """The plane in `height` by `width` pixels: each number stands for its part, NaN or infinite where any of it is.

    `down` and `across` are the first rows and columns of the parts, each of which is `enlarged` to so many pixels.
    `of` is how many elements a pixel stands for where only one of them was looked at, else 1.
    """

    numbers: Array
    down: Array
    across: Array
    enlarged: int
    of: int = 1

    @property
    def height(self) -> int:
        return int(self.numbers.shape[0])

    @property
    def width(self) -> int:
        return int(self.numbers.shape[1])

    def at(self, row: int, col: int) -> tuple[int, int]:
        """The pixel of an element."""
        parts = np.searchsorted(self.down, row, "right") - 1, np.searchsorted(self.across, col, "right") - 1
        return int(parts[0]) * self.enlarged, int(parts[1]) * self.enlarged


def pixels(elements: Array, high: int, wide: int) -> Pixels:
    """`elements` in at most `high` by `wide` pixels that are square; a small plane is enlarged."""
    height, width = elements.shape
    shrink = max(height / high, width / wide)
    enlarge = 1 if shrink > 1 else max(1, int(1 / shrink))
    down = _edges(height, min(high, max(1, round(height / max(1.0, shrink)))))
    across = _edges(width, min(wide, max(1, round(width / max(1.0, shrink)))))
    of = 1
    if elements.size <= _EXACT:
        numbers = _merged(widened(elements), down, across)
    else:
        numbers = widened(elements[np.ix_(down, across)])
        of = -(-elements.size // numbers.size)
    return Pixels(numbers.repeat(enlarge, axis=0).repeat(enlarge, axis=1), down, across, enlarge, of)


def _edges(length: int, parts: int) -> Array:
    """Where each of `parts` parts of an axis begins."""
    return np.arange(parts) * length // parts


def _merged(numbers: Array, down: Array, across: Array) -> Array:
    """The mean of each part; what is not finite in it comes through the sum, an infinity beside a NaN as NaN."""
    with np.errstate(all="ignore"):
        sums = np.add.reduceat(np.add.reduceat(numbers, down, axis=0), across, axis=1)
    height, width = numbers.shape
    means = sums / np.outer(np.diff(np.append(down, height)), np.diff(np.append(across, width)))
    # Sums of finite numbers may overflow: such a part shows its first number.
    lost = ~np.isfinite(means)
    if lost.any():
        bad = np.add.reduceat(np.add.reduceat(~np.isfinite(numbers), down, axis=0, dtype=np.int64), across, axis=1)
        means = np.where(lost & (bad == 0), numbers[np.ix_(down, across)], means)
    return np.asarray(means)


def picture(array: Array, plane: Plane, scale: Scale, surface: Surface) -> Drawn:
    """The plane, a legend below it, and the cursor on the pixel of its element."""
    high = max(1, surface.rows - 1)
    taken, wide = (2, surface.cols) if surface.coloured else (1, max(1, surface.cols // 2))
    shown = pixels(plane.elements(array), high * taken, wide)
    levels = scale.levels(shown.numbers).tolist()
    drawn = _halves(levels) if surface.coloured else _characters(levels)
    note = f"1 of {shown.of:,} elements is shown " if shown.of > 1 else ""
    drawn.append(fitted([(note, (Style.WARNING,)), *legend(scale, coloured=surface.coloured)], surface.cols))
    row, col = shown.at(plane.row, plane.col)
    return Drawn(drawn, (col * (1 if surface.coloured else 2), row // taken))


def _halves(levels: list[list[int]]) -> list[Row]:
    """Two rows of pixels in each row. Where either is no number, its sign takes the whole cell."""
    drawn: list[Row] = []
    for at in range(0, len(levels), 2):
        upper = levels[at]
        lower: Sequence[int | None] = levels[at + 1] if at + 1 < len(levels) else [None] * len(upper)
        drawn.append(joined(list(map(_half, upper, lower))))
    return drawn


@lru_cache(maxsize=1024)
def _half(upper: int, lower: int | None) -> Run:
    worst = upper if upper < 0 else lower
    if worst is not None and worst < 0:
        sign, style = SIGNS[worst]
        return sign, (style,)
    return _HALF, (ink(upper),) if lower is None else (ink(upper), ground(lower))


def _characters(levels: list[list[int]]) -> list[Row]:
    return [joined([(sign * 2, (style,)) for sign, style in map(character, row)]) for row in levels]
