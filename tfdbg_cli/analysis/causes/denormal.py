"""Denormal numbers: so small that they have fewer digits; TensorFlow's kernels take them for 0."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np

from tfdbg_cli.analysis.causes.evidence import Evidence
from tfdbg_cli.model.values import Array

# Those of float16 are computed with in float32, where they are none.
_TAKEN_FOR_0 = frozenset({"float32", "float64", "bfloat16"})
HELPS = "Keep numbers above {smallest}, by an epsilon that is added or tf.maximum, or scale them before."


def as_computed(evidence: Evidence) -> tuple[Evidence, str] | None:
    """`evidence` with 0 for the denormal numbers that made its elements, and which inputs held some, in words.

    None where no input held one.
    """
    operands = list(evidence.operands)
    told = []
    for at, (operand, array) in enumerate(zip(evidence.operands, evidence.arrays, strict=True)):
        small = None if operand is None or array is None else _denormal(operand, array)
        if operand is not None and small is not None and small.any():
            operands[at] = np.where(small, 0.0, operand)
            told.append(f"{evidence.name(at)} (as small as {np.abs(operand[small]).min():.3g})")
    if not told:
        return None
    smallest = _smallest(evidence)
    words = (
        f"numbers below {smallest:.3g}, denormal ones, are taken for 0: those of {' and '.join(dict.fromkeys(told))}"
    )
    return replace(evidence, operands=tuple(operands)), words


def helps_for(evidence: Evidence) -> str:
    """What helps where nothing else is at work."""
    return HELPS.format(smallest=f"{_smallest(evidence):.2g}")


def _smallest(evidence: Evidence) -> float:
    types = [array.dtype for array in evidence.arrays if array is not None and array.dtype.name in _TAKEN_FOR_0]
    return max((float(ml_dtypes.finfo(one).smallest_normal) for one in types), default=0.0)  # type: ignore[no-untyped-call]


def _denormal(operand: Array, array: Array) -> Array | None:
    if array.dtype.name not in _TAKEN_FOR_0:
        return None
    found: Array = (operand != 0) & (np.abs(operand) < float(ml_dtypes.finfo(array.dtype).smallest_normal))  # type: ignore[no-untyped-call]
    return found
