"""A row of numbers as a row of bars, one a number, NaN and infinities marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.text import Line, Span, Style
from tfdbg_cli.model.dtypes import in_double
from tfdbg_cli.model.values import Array

_BARS = "▁▂▃▄▅▆▇█"
NOT_A_NUMBER, UP, DOWN = "×", "↑", "↓"  # what stands for a NaN and for the infinities, wherever numbers are drawn
_WIDEST = 200  # bars where no screen sets a limit
_LEGEND = 40  # columns kept for the words behind the bars


@dataclass(frozen=True)
class Sparkline:
    """`values` (any number of real numbers, one-dimensional) from left to right, the least lowest.

    More values than columns share bars: each then shows the largest of its group, or that the group holds a NaN or an
    infinity. What the signs mean, and the range, stand behind it.
    """

    values: Array
    indent: str = "  "

    def lines(self, width: int | None) -> Sequence[Line]:
        if not self.values.size:
            return ()
        room = _WIDEST if width is None else max(10, width - len(self.indent) - _LEGEND)
        found = signs(self.values, room)
        finite = in_double(self.values[np.isfinite(self.values)])
        words = [f"{number_text(float(finite.min()))} to {number_text(float(finite.max()))}"] if finite.size else []
        words += [
            f"{sign} {name}" for sign, name in ((NOT_A_NUMBER, "NaN"), (UP, "+inf"), (DOWN, "-inf")) if sign in found
        ]
        if len(found) < self.values.size:
            words.append(f"{-(-self.values.size // len(found))} a bar")
        bars = [Span(sign, SIGN_STYLES.get(sign, Style.NUMBER)) for sign in found]
        return (Line((Span(self.indent), *_joined(bars), Span(f"  {', '.join(words)}", Style.DIM))),)


def signs(values: Array, room: int) -> list[str]:
    """A bar, or the sign of what is not finite, for each of `values`, or for so many groups as there is `room`."""
    finite = in_double(values[np.isfinite(values)])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    groups = np.array_split(in_double(values), max(1, min(values.size, room)))
    return [_sign(group, low, high) for group in groups]


def bars(counts: Sequence[int]) -> str:
    """A bar for each of `counts`, the largest in full height; nothing stands where none was counted."""
    most = max(counts, default=0)
    return "".join(_BARS[-(-count * len(_BARS) // most) - 1] if count else " " for count in counts)


SIGN_STYLES = {NOT_A_NUMBER: Style.NAN, UP: Style.INF, DOWN: Style.INF}


def _sign(group: Array, low: float, high: float) -> str:
    if np.isnan(group).any():
        return NOT_A_NUMBER
    if np.isposinf(group).any():
        return UP
    if np.isneginf(group).any():
        return DOWN
    if high == low:
        return _BARS[len(_BARS) // 2]
    # Halves first: the range of the largest numbers overflows.
    share = (float(group.max()) / 2 - low / 2) / (high / 2 - low / 2)
    return _BARS[min(len(_BARS) - 1, int(share * len(_BARS)))]


def _joined(bars: Sequence[Span]) -> list[Span]:
    """Neighbours of one style as one span."""
    found: list[Span] = []
    for bar in bars:
        if found and found[-1].style is bar.style:
            found[-1] = Span(found[-1].text + bar.text, bar.style)
        else:
            found.append(bar)
    return found
