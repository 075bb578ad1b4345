"""Which tensors TensorFlow's graph optimizer may fold to constants, as it matters for products with zeros.

By grappler/optimizers/constant_folding.cc, an op on constants is computed before the run; a product with a constant
of zeros becomes zeros, whatever the other factor holds; constant factors and divisors are combined into one.
The caller goes through the ops of a graph in topological order, and keeps the result of `folded` for each output.
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

_LARGEST_READ = 1 << 22  # elements; of larger constants nothing is known
_FEW = 64  # elements; results for constants up to this size are cached by their bytes


@dataclass(frozen=True, slots=True)
class Constant:
    """Bounds of the magnitudes of a constant's elements; by default nothing is known."""

    smallest: float = 0.0
    largest: float = float("inf")


UNREAD = Constant()

# Of a constant input these give a constant with the same magnitudes.
_PASSING = SAME_ELEMENTS | CHECKS | REPEATS | SIGNS
# Their output is folded if the shape of their input is known.
_OF_SHAPES = OF_SHAPES | {"Zeros", "Ones"}
# They are folded to zeros if one input is a constant of zeros.
_PRODUCTS = MATMULS | QUOTIENTS | SELECTS | {
    "Mul", "MulNoNan", "Einsum", "SparseMatMul", "DivNoNan", "Xdivy", "Xlogy", "Xlog1py", "LogicalAnd", "LogicalOr",
    "QuantizedMatMul", "Conv2D", "Conv3D", "DepthwiseConv2dNative",
}  # fmt: skip
# One constant input suffices to make an output constant.
_ONE_OF_SEVERAL = SWITCH | MERGE | {"IdentityN", "ShapeN"}


def constant_of(array: Any) -> Constant:
    """The bounds of a Const op's `array`; UNREAD for strings, empty and very large arrays."""
    value = np.asarray(array)
    if value.dtype.kind in "OSU" or not value.size or value.size > _LARGEST_READ:
        return UNREAD
    return _known(value.dtype, value.tobytes()) if value.size <= _FEW else _read(value)


@lru_cache(maxsize=1024)
def _known(dtype: np.dtype[Any], elements: bytes) -> Constant:
    """The bounds for these bytes; cached, since most of the many small constants of a training step are equal."""
    return _read(np.frombuffer(elements, dtype))


def _read(value: Any) -> Constant:
    with np.errstate(all="ignore"):
        wide = value if value.dtype.kind == "c" else value.astype(np.float64)
        magnitudes = np.abs(wide)
        return Constant(float(magnitudes.min()), float(magnitudes.max()))


def folded(op_type: str, stateful: bool, inputs: Sequence[Constant | None], value: Any = None) -> Constant | None:
    """The constant to which the optimizer may fold an op's outputs; None if it certainly folds none of them.

    Args:
        op_type: the type of the op. Not for function calls: ask about the ops inside instead.
        stateful: whether the op's OpDef says that it is stateful; then it is never folded.
        inputs: for each data input, in order, the constant that it may be. For the output of a loop or branch that
            is one if any of its sources may be one.
        value: the array of a `Const`, if it is known.

    """
    if op_type == "Const":
        return UNREAD if value is None else constant_of(value)
    if stateful:
        return None
    if op_type in _OF_SHAPES:
        return UNREAD
    if op_type == "Fill":  # its shape may be folded even where it is computed from other shapes
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
