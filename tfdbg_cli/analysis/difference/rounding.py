"""How large an error rounding can have made of an op's inputs: the op's own, and what it makes of theirs.

Sizes are of whole tensors: an error is an absolute one, beside the largest element. So what is left where nearly
equal numbers are subtracted may differ wholly, and is explained all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from tfdbg_cli.ops.kinds import (
    CHECKS,
    COPIES,
    GATHERS,
    LONG_SUMS,
    MATMULS,
    MOVES,
    QUOTIENTS,
    RECIPROCALS,
    RELUS,
    SELECTS,
    SUMS,
)

IMPLAUSIBLE = 0.5  # of the largest element: rounding does not come to as much, but where it is all that is left
_LITTLE = 0.01  # of the largest element: as much an input may be off where what is left of it is all rounding
UNLIKE = 0.25  # of the largest element: as much lies between two tensors that are not the same, made in two ways
_SAFETY = 4.0
MOST_GROWTH = 1000.0  # how much an op of which nothing is known may enlarge the relative error of its inputs
_FEW = 0.02  # of the elements may be decided otherwise by rounding
_TIES = 8.0  # times the step of the element type, as many at least: the fewer digits, the more are nearly alike
_TENSOR_FLOAT = 2.0**-10  # a GPU multiplies matrices with as few digits


@dataclass(frozen=True, slots=True)
class ErrorFlow:
    """A tensor as it goes into an op, or comes out: `error` is the largest absolute one, `scale` the largest
    magnitude, `mean` the mean and `least` the smallest one that is not 0. `exact` where both runs have the same bits.
    """

    size: int
    error: float
    scale: float
    mean: float
    least: float
    eps: float
    exact: bool

    @property
    def relative(self) -> float:
        """The error beside the largest element."""
        return self.error / self.scale if self.scale else float(self.error > 0)


Rule = Callable[[Sequence[ErrorFlow], ErrorFlow, float], float]
"""What error the op may give, of what goes in, what comes out, and the step of the coarsest type among them."""


def _passed_on(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
    """A sum, a choice, or a slope of at most one or so: errors add up."""
    return 2 * sum(one.error for one in inputs) + 4 * eps * sum(one.scale for one in inputs)


def _product(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
    one, two = inputs[0], inputs[-1]
    return one.error * two.scale + two.error * one.scale + 2 * eps * output.scale


def _quotient(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
    above, below = inputs[0], inputs[-1]
    slope = above.error + output.scale * below.error
    return 2 * eps * output.scale + (slope / below.least if below.least else slope)


def _power(slope: Callable[[ErrorFlow, ErrorFlow], float]) -> Rule:
    """A function of one input, whose slope is at most `slope` of what goes in and what comes out."""

    def rule(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
        return inputs[0].error * slope(inputs[0], output) + 4 * eps * output.scale

    return rule


def _exponential(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
    return (output.scale + 1) * (inputs[0].error + 2 * eps * (1 + inputs[0].scale))


def _sum(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
    """N elements in any order: about sqrt(n) steps of what is added up on the way."""
    n = _length(inputs[0], output)
    return 4 * sqrt(n) * inputs[0].error + eps * (4 + sqrt(n)) * (n * inputs[0].mean + inputs[0].scale)


def _mean(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
    return _sum(inputs, output, eps) / _length(inputs[0], output)


def _contraction(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
    """Sums of k products."""
    if len(inputs) < 2 or not output.size:
        return _unknown(inputs, output, eps)
    one, two = sorted(inputs, key=lambda flow: flow.size)[-2:]
    k = max(1.0, sqrt(one.size * two.size / output.size))
    made = k * one.mean * two.mean + sqrt(k) * (one.mean * two.scale + one.scale * two.mean)
    return 4 * sqrt(k) * (one.error * two.scale + two.error * one.scale) + 2 * eps * (4 + sqrt(k)) * made


def _unknown(inputs: Sequence[ErrorFlow], output: ErrorFlow, eps: float) -> float:
    """Of an op of which nothing is known: what it was given may have been subtracted."""
    n = max((_length(one, output) for one in inputs), default=1.0)
    given = max((one.relative for one in inputs), default=0.0)
    return output.scale * (MOST_GROWTH * given + 64 * eps * (1 + sqrt(n)))


def _length(given: ErrorFlow, output: ErrorFlow) -> float:
    return max(1.0, given.size / max(1, output.size))


_SMOOTH = "Tanh Sigmoid Sin Cos Softplus Softsign Erf Erfc Atan Elu Selu Softmax LogSoftmax Sigmoid LeakyRelu"
_CHOSEN = "Maximum Minimum Max Min ClipByValue TopK TopKV2 MaxPool AvgPool Neg Abs Sign Where ReverseSequence"
_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(SUMS | LONG_SUMS | MOVES | COPIES | CHECKS | GATHERS | SELECTS | RELUS, _passed_on),
    **dict.fromkeys(f"BiasAdd ReadVariableOp {_SMOOTH} {_CHOSEN}".split(), _passed_on),
    **dict.fromkeys(("Mul", "Square", "MulNoNan"), _product),
    **dict.fromkeys(QUOTIENTS | {"DivNoNan"}, _quotient),
    **dict.fromkeys(RECIPROCALS, _power(lambda given, output: output.scale**2)),
    "Rsqrt": _power(lambda given, output: output.scale**3 / 2),
    "Sqrt": _power(lambda given, output: 0.5 / sqrt(given.least) if given.least else 1.0),
    "Log": _power(lambda given, output: 1 / given.least if given.least else 1.0),
    **dict.fromkeys(("Exp", "Expm1"), _exponential),
    **dict.fromkeys(("Sum", "BiasAddGrad", "Cumsum", "UnsortedSegmentSum", "SegmentSum", "L2Loss"), _sum),
    "Mean": _mean,
    **dict.fromkeys(MATMULS | {"Einsum", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "_FusedMatMul"}, _contraction),
    **dict.fromkeys(("_FusedConv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"), _contraction),
}
"""What is known of op types; of all others `_unknown` holds."""
_ADDING = SUMS | LONG_SUMS | {"BiasAdd"}
_DECIDING = frozenset(
    [
        "Greater",
        "GreaterEqual",
        "Less",
        "LessEqual",
        "Equal",
        "NotEqual",
        "ArgMax",
        "ArgMin",
        "Floor",
        "Ceil",
        "Round",
        "Rint",
        "Sign",
        "TopK",
        "TopKV2",
        "Where",
        "InTopK",
        "InTopKV2",
        "FloorDiv",
        "FloorMod",
        "Bucketize",
        "Cast",
        "MaxPool",
        "MaxPoolGrad",
        "ReluGrad",
        "Relu6Grad",
    ]
)
"""Ops whose answer jumps: a last digit decides."""


def rounding_explains(op_type: str, inputs: Sequence[ErrorFlow], output: ErrorFlow, *, on_gpu: bool = False) -> bool:
    """Whether `output` of an op of this type may be as far apart as it is by rounding alone."""
    eps = max([output.eps, *(one.eps for one in inputs)])
    if on_gpu and eps < _TENSOR_FLOAT and _RULES.get(op_type) is _contraction:
        eps = _TENSOR_FLOAT
    known = [one for one in inputs if one.eps] or list(inputs)  # axes and shapes are no numbers to compute with
    rule = _RULES.get(op_type, _unknown)
    bound = rule(known, output, eps) if known else 0.0
    return output.error <= _SAFETY * bound


def adds_up(op_type: str, inputs: Sequence[ErrorFlow], output: ErrorFlow) -> bool:
    """Whether the op adds, and the errors of what it adds come to that of `output`: it has none of its own."""
    if op_type not in _ADDING or any(not one.eps for one in inputs):
        return False
    own = max((one.eps * one.scale for one in (*inputs, output)), default=0.0)
    return output.error <= sum(one.error for one in inputs) + own


def rounding_is_left(op_type: str, inputs: Sequence[ErrorFlow], output: ErrorFlow) -> bool:
    """Whether `output` is what is left where nearly equal numbers cancel: no more than last digits of what goes in.

    This alone makes an error as large as the numbers themselves of a few last digits; the bounds of coarse types, of
    which a few ops in a row come to more than that, too, do not tell it from a real difference.
    """
    rule = _RULES.get(op_type)
    known = [replace(one, error=min(one.error, max(2 * one.eps, _LITTLE) * one.scale)) for one in inputs if one.eps]
    if not known or not (op_type in _ADDING or rule in (_sum, _mean, _contraction)):
        return False
    eps = max(output.eps, *(one.eps for one in known))
    return rule is not None and output.error <= rule(known, output, eps) / 2


def rounding_decides(op_type: str, inputs: Sequence[ErrorFlow], unequal: int, size: int) -> bool:
    """Whether elements may differ by a jump, since what goes in is not the same to the last digit.

    Few do where an op decides, all where it gives the bits of its input for numbers.
    """
    inexact = any(one.eps and not one.exact for one in inputs)
    if op_type == "Bitcast":
        return inexact
    few = max(_FEW, _TIES * max((one.eps for one in inputs), default=0.0))
    return inexact and op_type in _DECIDING and unequal <= max(1, few * size)
