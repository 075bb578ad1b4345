"""Ranges of values to highlight: `[0,1]` or `[[-inf,-1],[1,inf]]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.document.array_words import native
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.values import Array

_NUMBER = r"[-+]?(?:inf(?:inity)?|\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)"
_PAIR = rf"\[\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\]"
_ONE = re.compile(_PAIR, re.IGNORECASE)
_MANY = re.compile(rf"\[\s*{_PAIR}(?:\s*,\s*{_PAIR})*\s*\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ranges:
    """Closed intervals."""

    bounds: tuple[tuple[float, float], ...]

    def mask(self, array: Array) -> Array:
        """True where an element lies in one of the intervals; NaN lies in none."""
        plain = native(array)
        found = np.zeros(plain.shape, np.bool_)
        for low, high in self.bounds:
            found |= (plain >= low) & (plain <= high)
        return found


def parse_ranges(text: str) -> Ranges:
    """Read `[a,b]` or `[[a,b],[c,d]]`; `inf` is allowed.

    Raises:
        TfdbgError: it is neither, or a range ends before it starts.

    """
    shown = text.strip()
    if not (_ONE.fullmatch(shown) or _MANY.fullmatch(shown)):
        raise TfdbgError(f"Cannot read the ranges {text!r}.", hint="Write [0,1] or [[-inf,-1],[1,inf]].")
    numbers = [float(number) for number in re.findall(_NUMBER, shown, re.IGNORECASE)]
    bounds = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    for low, high in bounds:
        if low > high:
            raise TfdbgError(f"The range [{low:g},{high:g}] ends before it starts.")
    return Ranges(bounds)
