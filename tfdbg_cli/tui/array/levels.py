"""Numbers as steps of a ramp: how far each lies between the least and the greatest, and which are no such numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdbg_cli.document.array_words import is_text
from tfdbg_cli.document.sparkline import DOWN, NOT_A_NUMBER, UP
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.text import Style
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.statistics import widened
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.chunks import sampled
from tfdbg_cli.tui.array.surface import Row

STEPS = 24
RAMP = " .:-=+*#%@"
_SMALL = 1 << 17  # elements of which all are looked at before a picture is drawn
_SAMPLE = 4096
NAN, POS_INF, NEG_INF = -1, -2, -3  # in the place of a step: what tells that there is no such number
# What stands for a number that is none, with its look: never a glyph of the ramp.
SIGNS = {NAN: (NOT_A_NUMBER, Style.NAN), POS_INF: (UP, Style.INF), NEG_INF: (DOWN, Style.INF)}


@dataclass(frozen=True, slots=True)
class Scale:
    """The least and the greatest finite number; `exact` where all were looked at. Both are 0 where there is none."""

    low: float
    high: float
    exact: bool
    empty: bool = False  # no number at all

    @classmethod
    def of(cls, kept: Array, *, exact: bool) -> Scale:
        """The scale of the finite numbers `kept`."""
        return cls(float(kept.min()), float(kept.max()), exact) if kept.size else cls(0.0, 0.0, exact, empty=True)

    def levels(self, elements: Array) -> Array:
        """The step of each element, from 0 to STEPS - 1, or what tells that it is NaN or infinite."""
        numbers = widened(elements)
        finite = np.isfinite(numbers)
        # Halves, since the range of the largest numbers overflows.
        width = self.high / 2 - self.low / 2
        share = (
            (np.where(finite, numbers, self.low) / 2 - self.low / 2) / width if width else np.full(finite.shape, 0.5)
        )
        steps = np.clip((share * STEPS).astype(np.int64), 0, STEPS - 1)
        return np.where(finite, steps, np.where(np.isnan(numbers), NAN, np.where(numbers > 0, POS_INF, NEG_INF)))

    @property
    def words(self) -> str:
        """The range, and whether it is that of a sample."""
        about = "" if self.exact else " in a sample"
        if self.empty:
            return f"no finite number{about}"
        return f"{number_text(self.low)} to {number_text(self.high)}{about}"


def require_numbers(array: Array) -> None:
    """Refuse to draw what is no number.

    Raises:
        TfdbgError: these are texts or other objects.

    """
    if is_text(array):
        raise TfdbgError("There are no numbers to draw here.", hint="1 shows the elements as they are.")


def scale_of(elements: Array) -> Scale:
    """The scale of a plane, by all of its elements or a sample of them."""
    exact = elements.size <= _SMALL
    numbers = widened(elements if exact else sampled(elements, _SAMPLE))
    kept = numbers[np.isfinite(numbers)]
    return Scale.of(kept, exact=exact)


def character(level: int) -> tuple[str, Style]:
    """What stands for a step where there are no colours, or for what is no number."""
    return SIGNS[level] if level < 0 else (RAMP[level * len(RAMP) // STEPS], Style.PLAIN)


def ground(level: int) -> str:
    """The name of the look whose background is the colour of this step."""
    return f"ground {level}"


def ink(level: int) -> str:
    """The name of the look whose foreground is the colour of this step."""
    return f"ink {level}"


def legend(scale: Scale, *, coloured: bool) -> Row:
    """The ramp from the least to the greatest, and what the signs mean."""
    ramp: Row = [(f"|{RAMP}|", ())]
    if coloured:
        ramp = [(" ", (ground(level),)) for level in range(0, STEPS, 2)]
    signs = f"  {NOT_A_NUMBER} NaN {UP} +inf {DOWN} -inf"
    return [*ramp, (f" {scale.words}", (Style.DIM,)), (signs, (Style.DIM,))]
