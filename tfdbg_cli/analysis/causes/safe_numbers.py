"""Numbers that a suggestion may name in a dtype: in float16 1e-7 has no finite reciprocal, and -1e9 is -inf."""

from __future__ import annotations

import math
from collections.abc import Mapping

import ml_dtypes
import numpy as np

from tfdbg_cli.model.dtypes import element_type_named, is_inexact

_FLOAT32 = np.dtype(np.float32)


def safe_numbers(dtype: str) -> Mapping[str, str]:
    """For the dtype called `dtype` the words of suggestions: each a number that it holds, as a program writes it.

    `small` may be divided by, and the square of `steep`, as gradients do; `tiny` may be added under a root, or within
    a norm; `step` changes 1 when it is taken from it; `masked` is far below every score, and finite. What is no dtype
    of floats counts as float32.
    """
    facts = ml_dtypes.finfo(_real(dtype))  # type: ignore[no-untyped-call]
    invertible = math.ceil(math.log10(4 / float(facts.max)))
    return {
        "small": _power(max(-7, invertible)),
        "steep": _power(max(-7, math.ceil(math.log10(2 / math.sqrt(float(facts.max)))))),
        "tiny": _power(max(-12, invertible)),
        "step": _power(max(-7, math.ceil(math.log10(float(facts.eps) / 2)))),
        "masked": f"-{_power(min(9, math.floor(math.log10(float(facts.max)))))}",
    }


def _real(dtype: str) -> np.dtype[np.generic]:
    element = element_type_named(dtype)
    held = None if element is None else element.numpy
    if held is None or not is_inexact(held):
        return _FLOAT32
    return np.empty(0, held).real.dtype if held.kind == "c" else held


def _power(exponent: int) -> str:
    return f"1e{exponent}"
