"""A plot of numbers over the whole width of the screen, from run to run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.document.braille import curve
from tfdbg_cli.document.scale_labels import scale_labels
from tfdbg_cli.document.sparkline import DOWN, NOT_A_NUMBER, SIGN_STYLES, UP
from tfdbg_cli.document.text import Line, Span, Style
from tfdbg_cli.model.dtypes import in_double
from tfdbg_cli.model.values import Array

_ROWS = 6
PLOT_LINES = _ROWS + 2  # of every plot: its rows, their axis, and the words below
_WIDE = 100  # columns where no screen sets a limit
_NARROWEST = 10
_SPAN_FOR_LOG = 1e3  # from one end of the scale to the other


@dataclass(frozen=True)
class Plot:
    """`values` (real numbers, one-dimensional) from left to right; `ends` names the first and the last of them.

    The scale is logarithmic with `log`; None takes it for positive numbers that lie far apart. What is not finite
    leaves a gap, with a sign below it.
    """

    values: Array
    ends: tuple[str, str]
    log: bool | None = None

    def lines(self, width: int | None) -> Sequence[Line]:
        values = in_double(self.values)
        finite = values[np.isfinite(values)]
        log = self.is_log
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        if log:
            low = float(finite[finite > 0].min())
        labels = scale_labels(low, high, _ROWS) if finite.size else [""] * _ROWS
        head = max(map(len, labels)) + 2
        wide = max(_NARROWEST, (_WIDE if width is None else width) - head)
        heights = _logarithms(values, low) if log else values
        ends = (float(np.log10(low)), float(np.log10(high))) if log else (low, high)
        rows = curve(heights, *ends, (wide, _ROWS))
        drawn = [
            Line((Span(f"{label:>{head - 2}} │", Style.DIM), Span(row, Style.NUMBER)))
            for label, row in zip(labels, rows, strict=True)
        ]
        return (*drawn, self._axis(values, head, wide), self._words(head, wide, log))

    @property
    def is_log(self) -> bool:
        """Whether the scale is logarithmic."""
        finite = self.values[np.isfinite(self.values)]
        positive = finite[finite > 0]
        if self.log is not None:
            return self.log and bool(positive.size)
        return bool(positive.size == finite.size > 1) and float(finite.max()) / float(finite.min()) > _SPAN_FOR_LOG

    def _axis(self, values: Array, head: int, wide: int) -> Line:
        """The line below, with a sign where something is not finite."""
        cells = ["─"] * wide
        for test, sign in ((np.isneginf, DOWN), (np.isposinf, UP), (np.isnan, NOT_A_NUMBER)):
            for place in np.flatnonzero(test(values)).tolist():
                cells[min(wide - 1, int((place + 0.5) * wide / values.size))] = sign
        spans = [Span(" " * (head - 1), Style.DIM), Span("└", Style.DIM)]
        for cell in cells:
            style = SIGN_STYLES.get(cell, Style.DIM)
            if spans[-1].style is style:
                spans[-1] = Span(spans[-1].text + cell, style)
            else:
                spans.append(Span(cell, style))
        return Line(tuple(spans))

    def _words(self, head: int, wide: int, log: bool) -> Line:
        first, last = self.ends
        gap = wide - len(first) - len(last)
        note = "log scale" if log else ""
        middle = note.center(gap) if len(note) + 2 <= gap else " " * max(1, gap)
        return Line((Span(f"{'':{head}}{first}{middle}{last}", Style.DIM),))


def _logarithms(values: Array, low: float) -> Array:
    """Decimal logarithms; zero and what is negative lies at the bottom, `low`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isfinite(values) & (values < low), np.log10(low), np.log10(values))
