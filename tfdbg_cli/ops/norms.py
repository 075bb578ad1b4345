"""Upper bounds for the output of an op, from norms of its inputs.

A norm is the L2 norm over all elements, which no element exceeds. The bounds also hold for each intermediate sum in
the op (by Cauchy-Schwarz). So if the inputs are finite and the bound is far below the largest number of the dtype,
the output is finite, and need not be checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from tfdbg_cli.ops.element_bounds import AT_MOST_TWO
from tfdbg_cli.ops.kinds import RELUS, REPEATS, SAME_ELEMENTS, SELECTS, SIGNS, SLOPES

FAR_FROM_OVERFLOW = 1e30
"""For float32 and wider dtypes: below this, rounding and another order of summation cannot cause an overflow."""


Norm: TypeAlias = tuple[float, int]
"""An upper bound of the norm of a tensor, if it is finite, and its number of elements."""
_Rule: TypeAlias = Callable[[Sequence[Norm], int], float]  # (norms of the inputs that count, size of the output)


def _some(given: Sequence[Norm], size: int) -> float:
    """The rule for outputs made of input elements, each at most once, of smaller ones, or of zeros."""
    total = 0.0
    for bound, _ in given:
        total += bound
    return total


def _extreme(given: Sequence[Norm], size: int) -> float:
    """The rule for one element per group of the first input's (Max); infinity if the input is empty."""
    bound, count = given[0]
    return bound * math.sqrt(size) if count else math.inf


def _spread(given: Sequence[Norm], size: int) -> float:
    """The rule for sums of inputs that are broadcast to `size` elements."""
    total = 0.0
    for bound, count in given:
        total += bound if count == size else bound * math.sqrt(size / max(count, 1))
    return total


def _product(given: Sequence[Norm], size: int) -> float:
    """Products in which no element meets another twice, or a product of matrices."""
    total = 1.0
    for bound, _ in given:
        total *= bound
    return total


def _products(given: Sequence[Norm], size: int) -> float:
    """Each element is a sum of products in which no element of one input meets one of the other twice."""
    return _product(given, size) * math.sqrt(size)


def _sum(given: Sequence[Norm], size: int) -> float:
    bound, count = given[0]
    return bound * math.sqrt(count)


def _square_of_sum(given: Sequence[Norm], size: int) -> float:
    return _spread(given, size) ** 2


def _at_most_two(given: Sequence[Norm], size: int) -> float:
    return 2.0 * math.sqrt(size)


def _slope(given: Sequence[Norm], size: int) -> float:
    """`dy * (1 - y * y)` or `dy * y * (1 - y)`."""
    (y, _), (dy, _) = given
    return dy * (1.0 + y) ** 2


_FIRST, _BOTH, _ALL = slice(1), slice(2), slice(None)
PASSED_ON = (_FIRST, _some)
"""The rule of ops whose output is bounded as their first input is."""
RULES: Mapping[str, tuple[slice, _Rule]] = MappingProxyType({
    **dict.fromkeys((
        *SAME_ELEMENTS, *SIGNS, *RELUS, "Slice", "StridedSlice", "SplitV", "Unpack", "Pad", "ReluGrad",
        "Relu6Grad",
    ), PASSED_ON),
    "Split": (slice(1, 2), _some),
    "Pack": (_ALL, _some),
    "ConcatV2": (slice(None, -1), _some),
    **dict.fromkeys(("Max", "Min", "Mean"), (_FIRST, _extreme)),
    **dict.fromkeys(REPEATS, (_FIRST, _spread)),
    "Fill": (slice(1, 2), _spread),
    **dict.fromkeys(("Add", "AddV2", "Sub", "BiasAdd", "Maximum", "Minimum"), (_BOTH, _spread)),
    **dict.fromkeys(SELECTS, (slice(1, 3), _spread)),
    "AddN": (_ALL, _some),
    **dict.fromkeys(("Mul", "MatMul", "BatchMatMul", "BatchMatMulV2"), (_BOTH, _product)),
    "Square": (_FIRST, _square_of_sum),
    "SquaredDifference": (_BOTH, _square_of_sum),
    **dict.fromkeys(("Sum", "BiasAddGrad"), (_FIRST, _sum)),
    "Conv2D": (_BOTH, _products),
    "Conv2DBackpropInput": (slice(1, 3), _products),
    "Conv2DBackpropFilter": (slice(0, 3, 2), _products),
    **dict.fromkeys(SLOPES, (_BOTH, _slope)),
    **dict.fromkeys(AT_MOST_TWO, (_FIRST, _at_most_two)),
})  # fmt: skip
"""By op type the inputs that count, and how their norms and the size of the output bound its norm."""
