"""The ways to a non-finite value: what a rule is, and the tests that rules are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.batch.batch_roles import BatchRole
from tfdbg_cli.analysis.causes.evidence import Evidence, largest_magnitude
from tfdbg_cli.analysis.graph.making.makers import Maker
from tfdbg_cli.analysis.graph.making.parts import MATMUL
from tfdbg_cli.analysis.graph.making.variance_axes import VarianceOf
from tfdbg_cli.analysis.graph.nodes.roles import OPTIMIZER_SCOPE
from tfdbg_cli.model.dtypes import element_type_named, in_double
from tfdbg_cli.model.values import Array

# True for each offending element that the rule explains; None when the operands it needs were not seen.
Test: TypeAlias = Callable[[Evidence], "Array | None"]


SUMS_OF_PRODUCTS = MATMUL | {
    "Einsum", "Conv1D", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "Conv2DBackpropInput", "Conv2DBackpropFilter",
    "Sum", "Mean",
}  # fmt: skip
# Names that end in "fn" or "fnuz" say so (ml_dtypes): finite, with NaN.
_NO_INFINITY = frozenset({"float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz"})


@dataclass(frozen=True, slots=True)
class Reason:
    """One way to a non-finite value. Texts may use {a} and {b} for the first inputs, {n} for a count of elements.

    The other words are those of `filled` in analysis/causes/causes.py. `blames` is the position of the input to look
    at, where that is not the one which the text names first.
    """

    ops: frozenset[str]
    holds: Test
    cause: str
    suggestion: str
    blames: int | None = None


def of(position: int, test: Callable[[Array], Array]) -> Test:
    """A test of the elements of one input. It never holds for an op that is not among the `ELEMENTWISE` ones."""

    def holds(evidence: Evidence) -> Array | None:
        operand = evidence.operand(position)
        return None if operand is None else np.asarray(test(operand), np.bool_)

    return holds


def both(test: Callable[[Array, Array], Array]) -> Test:
    """As `of`, of the elements of the first two inputs."""

    def holds(evidence: Evidence) -> Array | None:
        a, b = evidence.operand(0), evidence.operand(1)
        return None if a is None or b is None else np.asarray(test(a, b), np.bool_)

    return holds


def made(position: int, makers: tuple[Maker, ...], test: Test) -> Test:
    """`test`, where one of `makers` made the input at `position`."""
    return lambda evidence: test(evidence) if evidence.maker(position) in makers else None


def part(position: int, role: BatchRole, test: Test) -> Test:
    """`test`, where the input at `position` is that part of the batch."""
    return lambda evidence: test(evidence) if evidence.batch_role(position) is role else None


def varying(over: VarianceOf, test: Test) -> Test:
    """`test`, where the first input is a variance, or the divisor the root of one, and it is one of that."""
    return lambda evidence: test(evidence) if evidence.variance_of is over else None


def logged(test: Test) -> Test:
    """`test`, where a logarithm is taken of the result."""
    return lambda evidence: test(evidence) if evidence.logged else None


def counts(position: int, test: Test) -> Test:
    """`test`, where the input at `position` holds whole numbers, as a count does."""

    def holds(evidence: Evidence) -> Array | None:
        array = evidence.arrays[position] if position < len(evidence.arrays) else None
        whole = array is not None and array.dtype.kind in "iufV" and bool((in_double(array) % 1 == 0).all())
        return test(evidence) if whole else None

    return holds


def alike(test: Test) -> Test:
    """`test`, where the first two inputs have one shape of several axes; a maximum of each row has another."""

    def holds(evidence: Evidence) -> Array | None:
        shapes = [None if array is None else array.shape for array in evidence.arrays[:2]]
        same = len(shapes) == 2 and shapes[0] is not None and len(shapes[0]) > 1 and shapes[0] == shapes[1]
        return test(evidence) if same else None

    return holds


def slope(of_ops: frozenset[str], test: Test) -> Test:
    """`test`, where the op computes the gradient of one of `of_ops`."""
    return lambda evidence: test(evidence) if evidence.slope_of in of_ops else None


def slope_again(test: Test) -> Test:
    """`test`, where the op computes the gradient of a gradient."""
    return lambda evidence: test(evidence) if evidence.slope_again else None


def among(dtypes: tuple[str, ...], test: Test) -> Test:
    """`test`, where the result is one of `dtypes`."""
    return lambda evidence: test(evidence) if evidence.dtype in dtypes else None


def grown(test: Test) -> Test:
    """`test`, where a variable behind the op is larger than one of a model that learns."""
    return lambda evidence: test(evidence) if evidence.grown is not None else None


def untrained(test: Test) -> Test:
    """`test`, where the variable that `grown` asks about is not trained."""
    return lambda evidence: test(evidence) if evidence.grown_untrained else None


def in_gradient(test: Test) -> Test:
    """`test`, where the op computes a gradient."""
    return lambda evidence: test(evidence) if evidence.gradient else None


def scaled(test: Test) -> Test:
    """`test`, where the program asks whether its gradients are finite, as one does that scales its loss."""
    return lambda evidence: test(evidence) if evidence.scaled else None


def of_log_variance(test: Test) -> Test:
    """`test`, where the first input is the logarithm of a variance."""
    return lambda evidence: test(evidence) if evidence.log_variance else None


def of_half_log_variance(test: Test) -> Test:
    """`test`, where the first input is half the logarithm of a variance."""
    return lambda evidence: test(evidence) if evidence.half_log_variance else None


def of_gradient(test: Test) -> Test:
    """`test`, where the first input is a gradient."""
    return lambda evidence: test(evidence) if evidence.is_gradient(0) else None


def of_large_gradient(test: Test) -> Test:
    """`test`, where the larger of the first two inputs is a gradient."""
    return lambda evidence: test(evidence) if evidence.is_gradient(evidence.scalable) else None


def of_variables(test: Test) -> Test:
    """`test`, where nothing but variables and constants is behind the larger of the first two inputs."""
    return lambda evidence: test(evidence) if any(evidence.of_variables[evidence.scalable :][:1]) else None


def no_loss(test: Test) -> Test:
    """`test`, where the result has axes; a single number may be a loss, which programs scale."""
    return lambda evidence: test(evidence) if evidence.places.shape[1] else None


def masking(test: Test) -> Test:
    """`test`, where the first input is a mask: it holds one large negative number and else nothing but 0."""
    return lambda evidence: test(evidence) if _is_mask(evidence.arrays[0] if evidence.arrays else None) else None


def _is_mask(array: Array | None) -> bool:
    if array is None or not array.size or array.dtype.kind not in "fV":
        return False
    values = in_double(array)
    lowest = values.min()
    return bool(lowest < 0 and np.isin(values, (0.0, lowest)).all())


def by_constant(test: Test) -> Test:
    """`test`, where the program wrote a factor or a term that is as large as half of the way to the limit."""
    return lambda evidence: test(evidence) if evidence.constant is not None else None


def by_state(test: Test) -> Test:
    """`test`, where the larger of the first two inputs is what a loop carries from turn to turn."""
    return lambda evidence: test(evidence) if evidence.maker(evidence.scalable) is Maker.STATE else None


def by_large_weights(test: Test) -> Test:
    """`test`, where a variable among the first two inputs is larger than weights begin."""
    return lambda evidence: test(evidence) if evidence.weight is not None else None


def in_optimizer(test: Test) -> Test:
    """`test`, where the op stands in the scope of an optimizer, and is not of a schedule that the program wrote."""

    def holds(evidence: Evidence) -> Array | None:
        own = evidence.called_by_optimizer or not OPTIMIZER_SCOPE.search(evidence.node)
        return None if own else test(evidence)

    return holds


def overflow(evidence: Evidence) -> Array | None:
    """Infinite results of inputs that are all finite; NaN in a dtype that has no infinity."""
    if not evidence.finite_inputs:
        return None
    return np.asarray(
        ~np.isfinite(evidence.outputs) if evidence.dtype in _NO_INFINITY else np.isinf(evidence.outputs)
    )


def at_limit(test: Test) -> Test:
    """`test`, where the first input holds the largest number of its dtype, or the least."""
    return lambda evidence: test(evidence) if largest_magnitude(evidence.arrays[0]) == evidence.largest else None


def cancelled(evidence: Evidence) -> Array | None:
    """NaN out of a sum of finite numbers: partial sums overflowed in both directions and met."""
    if not evidence.finite_inputs or not _large_enough(evidence):
        return None
    return np.asarray(np.isnan(evidence.outputs))


def _large_enough(evidence: Evidence) -> bool:
    """Whether the inputs are so large that sums of their products can exceed the dtype: else nothing overflowed."""
    if evidence.op_type not in SUMS_OF_PRODUCTS:
        return True
    factors = [array for array in evidence.arrays if array is not None and array.size and array.dtype.kind in "fcV"][
        :2
    ]
    largest = [float(np.max(np.abs(in_double(array)))) for array in factors]
    return math.prod(largest) * max((array.size for array in factors), default=0) >= evidence.largest


def of_nothing(evidence: Evidence) -> Array | None:
    """Whether the first input has no elements."""
    first = evidence.arrays[0] if evidence.arrays else None
    return None if first is None else np.full(evidence.outputs.shape, first.size == 0)


def label_outside(evidence: Evidence) -> Array | None:
    """Whether a label is no class of the logits."""
    if len(evidence.arrays) < 2:
        return None
    logits, labels = evidence.arrays[0], evidence.arrays[1]
    if logits is None or labels is None or logits.ndim != 2 or not labels.size:
        return None
    outside = bool(np.any((labels < 0) | (labels >= logits.shape[-1])))
    return np.full(evidence.outputs.shape, outside)


def label_masked(evidence: Evidence) -> Array | None:
    """For each infinite loss whether its label is a class, or gives a share to one, whose logit is -inf."""
    if len(evidence.arrays) < 2 or evidence.places.ndim != 2 or evidence.places.shape[1] != 1:
        return None
    logits, labels = evidence.arrays[0], evidence.arrays[1]
    if logits is None or labels is None or logits.ndim != 2 or labels.shape not in (logits.shape, logits.shape[:1]):
        return None
    if logits.dtype.kind not in "fV" or labels.dtype.kind not in ("iu" if labels.ndim == 1 else "fV"):
        return None
    closed = np.isneginf(in_double(logits))
    if labels.ndim == 1:
        outside = (labels < 0) | (labels >= logits.shape[1])
        masked = closed[np.arange(len(labels)), np.where(outside, 0, labels)] & ~outside
    else:
        masked = (closed & (in_double(labels) > 0)).any(axis=1)
    return np.asarray(masked[evidence.places[:, 0]] & np.isinf(evidence.outputs))


def labels_too_long(evidence: Evidence) -> Array | None:
    """For each loss of a CTCLoss whether its labels, with a blank between two that are equal, take too many steps."""
    if len(evidence.arrays) < 4 or evidence.places.ndim != 2 or evidence.places.shape[1] not in (1, 3):
        return None
    indices, labels, steps = evidence.arrays[1], evidence.arrays[2], evidence.arrays[3]
    if indices is None or labels is None or steps is None or indices.ndim != 2:
        return None
    row = np.asarray(indices[:, 0])
    needed = np.bincount(row, minlength=steps.size)
    equal = (row[1:] == row[:-1]) & (labels[1:] == labels[:-1])
    needed = needed + np.bincount(row[1:][equal], minlength=needed.size)
    losses = evidence.places.shape[1] == 1  # else its gradient: steps, rows, classes
    return np.asarray((needed[: steps.size] > steps)[evidence.places[:, 0 if losses else 1]])


def any_of(position: int, test: Callable[[Array], Array]) -> Test:
    """Whether any element of an input passes `test`, where results cannot be told apart by their elements."""

    def holds(evidence: Evidence) -> Array | None:
        array = evidence.arrays[position] if position < len(evidence.arrays) else None
        if array is None or array.dtype.kind not in "fcV":
            return None
        return np.full(evidence.outputs.shape, bool(np.any(test(array))))

    return holds


def nothing_but_minus_inf(array: Array) -> Array:
    """For each row along the last axis whether it is -inf throughout."""
    return np.asarray(np.isneginf(in_double(array)).all(axis=-1)) if array.ndim else np.isneginf(array)


def extreme_of_nothing_open(evidence: Evidence) -> Array | None:
    """A largest number that is -inf, of numbers among which there are others: all of its own are -inf."""
    array = evidence.arrays[0] if evidence.arrays else None
    if array is None or not array.size or array.dtype.kind not in "fV" or np.isneginf(in_double(array)).all():
        return None
    return np.isneginf(evidence.outputs)


def epsilon_zero(evidence: Evidence) -> Array | None:
    """Whether the epsilon of an optimizer's update, known by its name, is 0."""
    named = zip(evidence.made_by or evidence.names, evidence.arrays, strict=True)
    found = [array for name, array in named if array is not None and "epsilon" in name.lower()]
    return np.full(evidence.outputs.shape, any(bool((array == 0).all()) for array in found)) if found else None


def epsilon_lost(evidence: Evidence) -> Array | None:
    """As `epsilon_zero`, of a dtype in which the usual epsilons are 0."""
    element = element_type_named(evidence.dtype)
    held = None if element is None else element.numpy
    return epsilon_zero(evidence) if held is not None and not np.asarray(1e-8).astype(held) else None


def step_too_long(evidence: Evidence) -> Array | None:
    """A variable that is infinite after an update, where it was finite before and so is what the update was given.

    Of that only as much as was seen.
    """
    return np.isinf(evidence.outputs) if evidence.seen_finite and evidence.arrays[0] is not None else None


def step_of_nan(evidence: Evidence) -> Array | None:
    """As `step_too_long`, of a variable that is NaN."""
    return np.isnan(evidence.outputs) if evidence.seen_finite and evidence.arrays[0] is not None else None


def sign_lost(a: Array, b: Array) -> Array:
    """Where a negative number is taken to a power that is not whole."""
    return np.asarray((a.real < 0) & (b != np.floor(b.real)))
