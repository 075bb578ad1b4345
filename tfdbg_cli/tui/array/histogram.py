"""A histogram of the plane: how many of its numbers lie where, counted beside the screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.text import Style
from tfdbg_cli.model.statistics import widened
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.chunks import forward, piece
from tfdbg_cli.tui.array.scan import Steps
from tfdbg_cli.tui.array.surface import Drawn, Row, Surface

_FINEST = 120  # parts that are counted; a screen shows them in groups of equal size
_BAR = "█"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many finite numbers lie in each of equal parts between the least and the greatest, and how many others."""

    low: float
    high: float
    parts: tuple[int, ...]
    nan: int
    pos_inf: int
    neg_inf: int


def counted(elements: Array) -> Steps[Counts]:
    """Count `elements`: first their range, then what lies where in it."""
    size = elements.size
    low, high = np.inf, -np.inf
    nan = pos_inf = neg_inf = 0
    for start, stop in forward(0, size):
        numbers = widened(piece(elements, start, stop))
        nan += int(np.isnan(numbers).sum())
        pos_inf += int(np.isposinf(numbers).sum())
        neg_inf += int(np.isneginf(numbers).sum())
        kept = numbers[np.isfinite(numbers)]
        if kept.size:
            low, high = min(low, float(kept.min())), max(high, float(kept.max()))
        yield stop / size / 2
    if low > high:
        return Counts(0.0, 0.0, (), nan, pos_inf, neg_inf)
    parts = np.zeros(1 if low == high else _FINEST, np.int64)
    for start, stop in forward(0, size):
        numbers = widened(piece(elements, start, stop))
        kept = numbers[np.isfinite(numbers)]
        if low == high:
            parts[0] += kept.size
        else:  # halves, since the range of the largest numbers overflows
            share = (kept / 2 - low / 2) / (high / 2 - low / 2)
            parts += np.bincount(np.minimum((share * _FINEST).astype(np.int64), _FINEST - 1), minlength=_FINEST)
        yield 0.5 + stop / size / 2
    return Counts(low, high, tuple(parts.tolist()), nan, pos_inf, neg_inf)


def histogram(counts: Counts | None, share: float | None, surface: Surface) -> Drawn:
    """The counts as bars, one below another; where they are not known, `share` is the part that was looked at.

    Without a share nobody counts.
    """
    if counts is None:
        words = "stopped: not all was counted" if share is None else f"counting, {share:.0%} looked at, Ctrl-C stops"
        return Drawn([[(f" {words}", (Style.DIM,))]])
    extra = [("NaN", counts.nan, Style.NAN), ("-inf", counts.neg_inf, Style.INF), ("+inf", counts.pos_inf, Style.INF)]
    extra = [row for row in extra if row[1]]
    drawn: list[Row] = []
    if counts.parts:
        group = _group(len(counts.parts), max(1, surface.rows - len(extra)))
        sums = [sum(counts.parts[at : at + group]) for at in range(0, len(counts.parts), group)]
        edge = counts.high / len(sums) - counts.low / len(sums)
        most, room = max(sums), max(1, surface.cols - 26)
        for number, total in enumerate(sums):
            bar = _BAR * (-(-total * room // most) if most else 0)
            label = number_text(counts.low + number * edge)
            drawn.append([(f"{label:>11} ", (Style.LABEL,)), (bar, (Style.NUMBER,)), (f" {total:,}", ())])
    else:
        drawn.append([(" no finite number here", (Style.WARNING,))])
    drawn += [[(f"{name:>11} ", (style,)), (f"{count:,}", (style,))] for name, count, style in extra]
    return Drawn(drawn[: surface.rows])


def _group(parts: int, rows: int) -> int:
    """How many parts a row stands for, so that all rows stand for as many."""
    return next(size for size in range(1, parts + 1) if parts % size == 0 and parts // size <= rows)
