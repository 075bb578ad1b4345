"""How numbers are written in a grid: NumPy's print options, for one view of one array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfdbg_cli.document.array_words import is_text, printed, text_word
from tfdbg_cli.document.cells import clip
from tfdbg_cli.model.values import Array

_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_MOST_DIGITS = 20
_WIDEST_TEXT = 24  # columns of a cell with a text


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """What is None follows the program's own np.get_printoptions(), at the time of printing.

    `threshold` is the number of elements of a plane above which only the ends of its axes are shown; None shows all.
    """

    precision: int | None = None
    suppress: bool | None = None
    scientific: bool = False
    threshold: int | None = None

    @property
    def digits(self) -> int:
        """How many digits behind the point there are at most."""
        return int(np.get_printoptions()["precision"]) if self.precision is None else self.precision

    @property
    def suppresses(self) -> bool:
        """Whether small numbers have no exponents."""
        return bool(np.get_printoptions()["suppress"]) if self.suppress is None else self.suppress

    def finer(self, digits: int) -> NumberStyle:
        """So many digits more."""
        return replace(self, precision=min(max(0, self.digits + digits), _MOST_DIGITS))

    def edge(self, size: int) -> int | None:
        """How many places to keep at each end of an axis of a plane with `size` elements; None for all."""
        if self.threshold is None or size <= self.threshold:
            return None
        return max(1, int(np.get_printoptions()["edgeitems"]))

    @property
    def words(self) -> str:
        """What differs from the program's own options, in a few words."""
        parts = [f"precision {self.precision}"] if self.precision is not None else []
        parts += ["scientific"] if self.scientific else []
        parts += [f"suppress {'on' if self.suppress else 'off'}"] if self.suppress is not None else []
        parts += ["ends only"] if self.threshold is not None else []
        return ", ".join(parts)

    def written(self, flat: Array) -> list[str]:
        """Each element of the one-dimensional `flat` as a text that may go to a terminal."""
        if is_text(flat):
            return [clip(text_word(item, shorten=True), _WIDEST_TEXT) for item in flat]
        if flat.dtype.itemsize not in _BITS or flat.dtype.kind == "c":
            return printed(flat, self._options)
        # By their bits, which tell -0 from 0: a screen full of zeros is written once.
        bits, each = np.unique(np.ascontiguousarray(flat).view(_BITS[flat.dtype.itemsize]), return_inverse=True)
        words = printed(bits.view(flat.dtype), self._options)
        return [words[at] for at in each.reshape(-1).tolist()]

    @property
    def _options(self) -> dict[str, Any]:
        found: dict[str, Any] = {"precision": self.precision} if self.precision is not None else {}
        found |= {"suppress_small": self.suppress} if self.suppress is not None else {}
        return found | ({"formatter": _scientific(self.digits)} if self.scientific else {})


def _scientific(digits: int) -> dict[str, Callable[[Any], str]]:
    def one(number: Any) -> str:
        return np.format_float_scientific(number, precision=digits)

    return {"float_kind": one, "complex_kind": lambda z: f"{one(z.real)}{'' if z.imag < 0 else '+'}{one(z.imag)}j"}
