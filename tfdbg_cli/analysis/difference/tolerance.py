"""How far two numbers may lie apart and still be called the same, by the element types that they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tfdbg_cli.model.dtypes import is_inexact

_STEPS = {8: 16, 4: 16, 2: 4, 1: 1}  # by bytes of an element: how many steps of the coarser type do not count
_OF_SCALE = 0.5  # as much of the largest element is added: beside it, what is left of a cancellation is rounding


@dataclass(frozen=True)
class Tolerance:
    """What a user asked for: elements are the same where |a - b| <= atol + rtol * max(|a|, |b|).

    What is None follows from the element types: a few steps of the coarser one, relative to the element, and as an
    absolute one half as many relative to the largest element of the tensor.
    """

    rtol: float | None = None
    atol: float | None = None

    @property
    def asked(self) -> bool:
        """Whether a user asked for one, so that growth of rounding counts, too."""
        return self.rtol is not None or self.atol is not None

    def relative(self, eps: float, itemsize: int) -> float:
        """What does not count, relative to an element of a type with `eps`."""
        if self.rtol is not None:
            return self.rtol
        return 0.0 if self.atol is not None else _STEPS[itemsize] * eps

    def absolute(self, eps: float, itemsize: int, scale: float) -> float:
        """What does not count in a tensor whose largest element is `scale`."""
        if self.atol is not None:
            return self.atol
        return 0.0 if self.rtol is not None else _OF_SCALE * _STEPS[itemsize] * eps * scale


EXACT = Tolerance(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Precision:
    """How finely an element type tells numbers apart: the step behind 1, the bytes, and its smallest step."""

    eps: float
    itemsize: int
    smallest: float


def precision_of(first: np.dtype[Any], second: np.dtype[Any]) -> Precision | None:
    """That of the coarser one of both; None where both are exact: integers, texts."""
    known = [_precision(dtype) for dtype in (first, second) if is_inexact(dtype)]
    return max(known, key=lambda one: one.eps, default=None)


def _precision(dtype: np.dtype[Any]) -> Precision:
    part = np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype
    facts = ml_dtypes.finfo(part)  # type: ignore[no-untyped-call]
    return Precision(float(facts.eps), min(part.itemsize, 8), float(facts.smallest_subnormal))
