"""What TensorFlow's graph optimizer may take for a constant, so that it may fold a product with zeros.

Rules of grappler/optimizers/constant_folding.cc: an op of constants is computed before the run; a product with a
constant of zeros becomes zeros, whatever the other factor holds; factors and divisors are multiplied with each other.
Whoever asks goes through the ops of a graph, inputs first, and keeps what `folded` says of each output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tfdbg_cli.ops.kinds import (
    CHECKS,
    MATMULS,
    MERGE,
    OF_SHAPES,
    QUOTIENTS,
    REPEATS,
    SAME_ELEMENTS,
    SELECTS,
    SIGNS,
    SWITCH,
)

_LARGEST_READ = 1 << 22  # elements of a constant that are looked at
_FEW = 64  # elements of a constant of which equal ones are looked at once


@dataclass(frozen=True, slots=True)
class Constant:
    """What is known of a constant: the smallest and the largest magnitude of its elements."""

    smallest: float = 0.0
    largest: float = float("inf")


UNREAD = Constant()

# The value goes on as it is.
_PASSING = SAME_ELEMENTS | CHECKS | REPEATS | SIGNS
# They give constants when the shape of their input is known.
_OF_SHAPES = OF_SHAPES | {"Zeros", "Ones"}
# A constant of zeros makes them constant.
_PRODUCTS = MATMULS | QUOTIENTS | SELECTS | {
    "Mul", "MulNoNan", "Einsum", "SparseMatMul", "DivNoNan", "Xdivy", "Xlogy", "Xlog1py", "LogicalAnd", "LogicalOr",
    "QuantizedMatMul", "Conv2D", "Conv3D", "DepthwiseConv2dNative",
}  # fmt: skip
# In whose outputs a constant among several inputs goes on by itself.
_ONE_OF_SEVERAL = SWITCH | MERGE | {"IdentityN", "ShapeN"}


def constant_of(array: Any) -> Constant:
    """What is known of a Const op that holds `array`; of text, or of very large ones, nothing."""
    value = np.asarray(array)
    if value.dtype.kind in "OSU" or not value.size or value.size > _LARGEST_READ:
        return UNREAD
    return _known(value.dtype, value.tobytes()) if value.size <= _FEW else _read(value)


@lru_cache(maxsize=1024)
def _known(dtype: np.dtype[Any], elements: bytes) -> Constant:
    """What is known of a constant of these elements: of the many small ones of a training step most are equal."""
    return _read(np.frombuffer(elements, dtype))


def _read(value: Any) -> Constant:
    with np.errstate(all="ignore"):
        wide = value if value.dtype.kind == "c" else value.astype(np.float64)
        magnitudes = np.abs(wide)
        return Constant(float(magnitudes.min()), float(magnitudes.max()))


def folded(op_type: str, stateful: bool, inputs: Sequence[Constant | None], value: Any = None) -> Constant | None:
    """What an op gives: None when it is certainly no constant for the optimizer.

    Args:
        op_type: of the op; a call of functions is not asked about, but what is inside.
        stateful: whether the op is (its OpDef says so): then it is never folded.
        inputs: of its data inputs, in order. What a loop or branch gives is constant when one of its sources is.
        value: the array of a `Const`, if there is one.

    """
    if op_type == "Const":
        return UNREAD if value is None else constant_of(value)
    if stateful:
        return None
    if op_type in _OF_SHAPES:
        return UNREAD
    if op_type == "Fill":  # of a shape that is computed from other shapes, too
        return UNREAD if inputs[1:] and inputs[1] is not None else None
    if op_type == "Cast":
        # To a narrow type a small number becomes zero and a large one infinite.
        return _within(inputs[0]) if inputs and inputs[0] is not None else None
    if op_type in _PASSING and inputs and inputs[0] is not None:
        return inputs[0]
    if op_type in _ONE_OF_SEVERAL and any(given is not None for given in inputs):
        return UNREAD
    if op_type in _PRODUCTS and any(given is not None and not given.smallest for given in inputs):
        return UNREAD
    if all(given is not None for given in inputs):
        return UNREAD
    return None


def _within(constant: Constant | None) -> Constant:
    safe = constant is not None and constant.smallest >= 2.0**-10 and constant.largest <= 2.0**10
    return constant if safe and constant is not None else UNREAD
