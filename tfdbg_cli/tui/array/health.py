"""The health of each row of the batch: where it holds NaN, infinities and zeros, and between what its numbers lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tfdbg_cli.document.cells import clip
from tfdbg_cli.document.sparkline import DOWN, NOT_A_NUMBER, UP
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.text import Style
from tfdbg_cli.model.statistics import widened
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.chunks import STEP, forward, piece
from tfdbg_cli.tui.array.numbers import CURSOR
from tfdbg_cli.tui.array.scan import Steps
from tfdbg_cli.tui.array.surface import Drawn, Row, Surface, joined

_CELLS = 32  # parts of a row that are told apart; a shorter row has one for each element
_GOOD, _ZERO, _UNKNOWN = "·", "0", "?"
_LEAST_WORK = STEP // 16  # a row takes its time however few elements it has


def _none() -> Array:
    return np.zeros(_CELLS, np.int64)


@dataclass(slots=True)
class RowHealth:
    """What one row of the batch holds, in each of its equal parts; its least and greatest finite number."""

    size: Array = field(default_factory=_none)
    nan: Array = field(default_factory=_none)
    pos_inf: Array = field(default_factory=_none)
    neg_inf: Array = field(default_factory=_none)
    zero: Array = field(default_factory=_none)
    low: float = float("inf")
    high: float = float("-inf")

    def add(self, numbers: Array, parts: Array) -> None:
        """Count `numbers`, each of which lies in the part that `parts` says."""
        nan, pos_inf, neg_inf = np.isnan(numbers), np.isposinf(numbers), np.isneginf(numbers)
        self.size += np.bincount(parts, minlength=_CELLS)
        for counts, mask in (
            (self.nan, nan), (self.pos_inf, pos_inf), (self.neg_inf, neg_inf), (self.zero, numbers == 0),
        ):  # fmt: skip
            counts += np.bincount(parts[mask], minlength=_CELLS)
        finite = numbers[~(nan | pos_inf | neg_inf)]
        if finite.size:
            self.low, self.high = min(self.low, float(finite.min())), max(self.high, float(finite.max()))


def examined(array: Array, rows: Sequence[int], tell: Callable[[int, RowHealth], None]) -> Steps[None]:
    """Look at these rows of the first axis, and tell of each when it is known."""
    waiting = 0
    for number, row in enumerate(rows):
        elements = array[row, ...] if array.ndim else array
        health = RowHealth()
        for low, high in forward(0, elements.size):
            parts = np.arange(low, high) * min(_CELLS, elements.size) // elements.size
            health.add(widened(piece(elements, low, high)), parts)
            waiting += max(high - low, _LEAST_WORK)
            if waiting >= STEP and high < elements.size:
                waiting = 0
                yield (number + high / elements.size) / len(rows)
        tell(row, health)
        if waiting >= STEP:
            waiting = 0
            yield (number + 1) / len(rows)


def health_strips(known: dict[int, RowHealth], rows: range, at: int, surface: Surface) -> Drawn:
    """A strip for each of `rows` with the facts behind it, and the cursor at row `at`."""
    head = len(str(rows.stop)) + 1
    drawn: list[Row] = []
    for row in rows:
        look = Style.TITLE if row == at else Style.DIM
        strip: Row = [(f"{row:>{head - 1}}", (look, CURSOR) if row == at else (look,)), (" ", ())]
        health = known.get(row)
        if health is None:
            drawn.append([*strip, (_UNKNOWN * _CELLS, (Style.DIM,))])
            continue
        signs = [_sign(health, part) for part in range(_CELLS)]
        strip += [(sign, (style,)) for sign, style in signs]
        drawn.append(joined([*strip, ("  ", ()), *_facts(health, surface.cols - head - _CELLS - 2)]))
    legend = f" {_GOOD} numbers {_ZERO} zeros {NOT_A_NUMBER} NaN {UP} +inf {DOWN} -inf {_UNKNOWN} not counted yet"
    drawn.append([(clip(legend, surface.cols), (Style.DIM,))])
    return Drawn(drawn, (head - 2, at - rows.start))


def _sign(health: RowHealth, part: int) -> tuple[str, Style]:
    for counts, sign, style in (
        (health.nan, NOT_A_NUMBER, Style.NAN),
        (health.pos_inf, UP, Style.INF),
        (health.neg_inf, DOWN, Style.INF),
    ):
        if counts[part]:
            return sign, style
    size = health.size[part]
    return (
        (" ", Style.PLAIN) if not size else (_ZERO, Style.DIM) if health.zero[part] == size else (_GOOD, Style.GOOD)
    )


def _facts(health: RowHealth, room: int) -> Row:
    """How many are not finite, then the range of the others, as far as there is room."""
    counts = (
        ("NaN", health.nan, Style.NAN),
        ("+inf", health.pos_inf, Style.INF),
        ("-inf", health.neg_inf, Style.INF),
    )
    words = [(f"{name}×{total:,}", style) for name, parts, style in counts if (total := int(parts.sum()))]
    if health.low <= health.high:
        words.append((f"[{number_text(health.low)}, {number_text(health.high)}]", Style.NUMBER))
    found: Row = []
    for word, style in words:
        room -= len(word) + 1
        if room < 0:
            break
        found += [(word, (style,)), (" ", ())]
    return found
