"""Why an op gave NaN or infinity, in words: a table of the ways that arithmetic knows.

Each rule names the ops it is about, a test that says for which of the offending elements it holds, the cause and
what helps. To teach tfdbg another cause, add a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.evidence import Evidence
from tfdbg_cli.model.values import Array

# True for each offending element that the rule explains; None when the operands it needs were not seen.
Test: TypeAlias = Callable[[Evidence], "Array | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to a non-finite value. Texts may use the words of `_filled`: {a} and {b} are inputs, {n} a count."""

    ops: frozenset[str]
    holds: Test
    cause: str
    suggestion: str


@dataclass(frozen=True, slots=True)
class Cause:
    """What went wrong and what helps; `suggestion` is empty where there is nothing to say."""

    text: str
    suggestion: str = ""


def _ops(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _of(position: int, test: Callable[[Array], Array]) -> Test:
    """A test of the elements of one input."""

    def holds(evidence: Evidence) -> Array | None:
        operand = evidence.operand(position)
        return None if operand is None else np.asarray(test(operand), np.bool_)

    return holds


def _both(test: Callable[[Array, Array], Array]) -> Test:
    """A test of the elements of the first two inputs."""

    def holds(evidence: Evidence) -> Array | None:
        a, b = evidence.operand(0), evidence.operand(1)
        return None if a is None or b is None else np.asarray(test(a, b), np.bool_)

    return holds


def _overflow(evidence: Evidence) -> Array | None:
    """Infinite results of inputs that are all finite."""
    if not evidence.finite_inputs:
        return None
    return np.asarray(np.isinf(evidence.outputs))


def _cancelled(evidence: Evidence) -> Array | None:
    """NaN out of a sum of finite numbers: partial sums overflowed in both directions and met."""
    if not evidence.finite_inputs:
        return None
    return np.asarray(np.isnan(evidence.outputs))


def _of_nothing(evidence: Evidence) -> Array | None:
    first = evidence.arrays[0] if evidence.arrays else None
    return None if first is None else np.full(evidence.outputs.shape, first.size == 0)


def _label_outside(evidence: Evidence) -> Array | None:
    if len(evidence.arrays) < 2:
        return None
    logits, labels = evidence.arrays[0], evidence.arrays[1]
    if logits is None or labels is None or logits.ndim != 2 or not labels.size:
        return None
    outside = bool(np.any((labels < 0) | (labels >= logits.shape[-1])))
    return np.full(evidence.outputs.shape, outside)


def _input_bad(position: int) -> Test:
    """An input that is itself not finite, where no rule about its elements fits."""

    def holds(evidence: Evidence) -> Array | None:
        array = evidence.arrays[position] if position < len(evidence.arrays) else None
        if array is None or array.dtype.kind not in "fcV" or np.isfinite(array).all():
            return None
        return np.ones(evidence.outputs.shape, np.bool_)

    return holds


def _adam_epsilon_zero(evidence: Evidence) -> Array | None:
    epsilon = evidence.arrays[8] if len(evidence.arrays) > 8 else None
    return None if epsilon is None else np.full(evidence.outputs.shape, bool((epsilon == 0).all()))


def _sign_lost(a: Array, b: Array) -> Array:
    return np.asarray((a.real < 0) & (b != np.floor(b.real)))


_PROBABILITY = (
    "If {a} is a softmax or sigmoid, give its logits to tf.nn.log_softmax or"
    " tf.nn.softmax_cross_entropy_with_logits; otherwise use tf.math.log(tf.maximum(x, 1e-7))."
)
_FED = "Check what is fed as {a}, or use tf.math.log(tf.maximum(x, 1e-7))."
_SAFE_DIVIDE = "Use tf.math.divide_no_nan(x, y), or add a small eps such as 1e-7 to the denominator."
_SMALLER = "Lower the learning rate, clip gradients (tf.clip_by_global_norm) or normalize {a}.{half}"
_DIVERGES = "The values diverge: lower the learning rate, clip gradients (tf.clip_by_global_norm) or normalize {a}."
_WIDER = "Sum in float32 (tf.cast), or scale the loss down before."
_HALF_PRECISION = ("float16", "bfloat16")
_DIVISIONS = _ops("RealDiv Div Xdivy TruncateDiv")
_MODULI = _ops("FloorMod Mod TruncateMod FloorDiv")
_PRODUCTS = _ops("Mul SquaredDifference")
_SUMS = _ops("Add AddV2 Sub AddN BiasAdd")
_MATRIX = _ops(
    "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 _FusedMatMul _FusedBatchMatMulV2 Einsum Conv1D Conv2D Conv3D"
    " DepthwiseConv2dNative _FusedConv2D _FusedDepthwiseConv2dNative Conv2DBackpropInput Conv2DBackpropFilter"
)
_TOTALS = _ops("Sum Mean Prod L2Loss Cumsum Cumprod EuclideanNorm UnsortedSegmentSum SegmentSum AddN AccumulateNV2")

RULES: tuple[Rule, ...] = (
    # Logarithms.
    Rule(_ops("Log"), _of(0, lambda x: x == 0), "log of 0: {a} is 0 at {n}", _PROBABILITY),
    Rule(_ops("Log"), _of(0, lambda x: x.real < 0), "log of a negative number: {a} is negative at {n}", _PROBABILITY),
    Rule(_ops("Log1p"), _of(0, lambda x: x == -1), "log1p of -1: {a} is -1 at {n}", _PROBABILITY),
    Rule(
        _ops("Log1p"),
        _of(0, lambda x: x.real < -1),
        "log1p of a number below -1: {a} is below -1 at {n}",
        "Clip {a} to values above -1 before tf.math.log1p.",
    ),
    Rule(
        _ops("Xlogy"),
        _of(1, lambda y: y.real <= 0),
        "log of a number that is not positive: {b} is 0 or negative at {n}",
        "Clip {b} with tf.maximum(y, 1e-7).",
    ),
    # Divisions.
    Rule(_DIVISIONS, _both(lambda a, b: (a == 0) & (b == 0)), "0 / 0: {a} and {b} are both 0 at {n}", _SAFE_DIVIDE),
    Rule(_DIVISIONS, _both(lambda a, b: np.isinf(a) & np.isinf(b)), "inf / inf: {a} and {b} are infinite at {n}",
         "Look where the infinities came from: `origin` without --nan."),
    Rule(_DIVISIONS | _MODULI, _of(1, lambda b: b == 0), "division by 0: {b} is 0 at {n}", _SAFE_DIVIDE),
    Rule(
        _DIVISIONS,
        _overflow,
        "overflow of a division: {b} is so small at {n} that the quotient exceeds {largest}, the largest {dtype}",
        _SAFE_DIVIDE,
    ),
    Rule(
        _ops("Reciprocal Inv"),
        _of(0, lambda x: x == 0),
        "division by 0: the reciprocal of {a}, which is 0 at {n}",
        "If this is a gradient of log or of a division, keep its argument away from 0: tf.maximum(x, 1e-7).",
    ),
    # Roots and powers.
    Rule(
        _ops("Sqrt Rsqrt"),
        _of(0, lambda x: x.real < 0),
        "square root of a negative number: {a} is negative at {n}",
        "Clip it with tf.maximum(x, 0.0); a variance computed as E[x²]-E[x]² goes below 0 by rounding:"
        " use tf.nn.moments.",
    ),
    Rule(_ops("Rsqrt"), _of(0, lambda x: x == 0), "1/sqrt of 0: {a} is 0 at {n}",
         "Add a small eps: tf.math.rsqrt(x + 1e-7)."),
    Rule(
        _ops("SqrtGrad RsqrtGrad InvGrad ReciprocalGrad"),
        _of(0, lambda y: (y == 0) | np.isinf(y)),
        "gradient of a square root or reciprocal at 0: {a} is 0 or infinite at {n}",
        "Take tf.sqrt(x + 1e-12); tf.where alone does not help, since its gradient still passes here.",
    ),
    Rule(
        _ops("Pow"),
        _both(lambda a, b: (a == 0) & (b.real < 0)),
        "0 to a negative power: {a} is 0 where {b} is negative, at {n}",
        "Keep the base away from 0: tf.maximum(x, 1e-7).",
    ),
    Rule(
        _ops("Pow"),
        _both(_sign_lost),
        "a negative number to a fractional power: {a} is negative at {n}",
        "Take tf.abs or clip the base with tf.maximum(x, 0.0).",
    ),
    Rule(_ops("Pow Square"), _overflow,
         "overflow of a power: at {n} the result exceeds {largest}, the largest {dtype}", _SMALLER),
    # Exponentials.
    Rule(
        _ops("Exp Expm1 Sinh Cosh"),
        _overflow,
        "overflow of {op}: {a} is above {limit} at {n}, so that the result exceeds {largest}, the largest {dtype}",
        "Subtract the maximum first, as tf.nn.softmax and tf.reduce_logsumexp do, or clip {a} with tf.clip_by_value.",
    ),
    # Functions with a bounded domain.
    Rule(_ops("Acos Asin Atanh Erfinv"), _of(0, lambda x: np.abs(x) > 1),
         "{op} outside of [-1, 1]: {a} is outside at {n}", "Clip it: tf.clip_by_value(x, -1 + 1e-7, 1 - 1e-7)."),
    Rule(_ops("Atanh Erfinv"), _of(0, lambda x: np.abs(x) == 1), "{op} of 1 or -1: {a} is at the border at {n}",
         "Clip it: tf.clip_by_value(x, -1 + 1e-7, 1 - 1e-7)."),
    Rule(_ops("Acosh"), _of(0, lambda x: x.real < 1), "acosh of a number below 1: {a} is below 1 at {n}",
         "Clip it: tf.maximum(x, 1.0)."),
    Rule(_ops("Lgamma Digamma"), _of(0, lambda x: (x.real <= 0) & (x == np.floor(x.real))),
         "{op} has a pole at 0 and the negative integers: {a} is there at {n}", "Keep {a} positive."),
    # Sums and products.
    Rule(_ops("Mul MulNoNan"), _both(lambda a, b: ((a == 0) & np.isinf(b)) | ((b == 0) & np.isinf(a))),
         "0 * inf: of {a} and {b} one is 0 and one infinite at {n}",
         "A mask by multiplication does not remove infinities: use tf.where, or tf.math.multiply_no_nan."),
    Rule(_ops("Add AddV2"), _both(lambda a, b: np.isinf(a) & np.isinf(b) & (np.sign(a) != np.sign(b))),
         "inf - inf: {a} and {b} are infinite with opposite signs at {n}",
         "Look where the infinities came from: `origin` without --nan."),
    Rule(_ops("Sub SquaredDifference"), _both(lambda a, b: np.isinf(a) & np.isinf(b) & (np.sign(a) == np.sign(b))),
         "inf - inf: {a} and {b} are infinite with the same sign at {n}",
         "Look where the infinities came from: `origin` without --nan."),
    Rule(_PRODUCTS, _overflow, "overflow of a product: at {n} the result exceeds {largest}, the largest {dtype}",
         _SMALLER),
    Rule(_SUMS, _overflow, "overflow of a sum: at {n} the result exceeds {largest}, the largest {dtype}",
         _SMALLER),
    Rule(_MATRIX, _overflow, "overflow of {op}: at {n} the sum of products exceeds {largest}, the largest {dtype}",
         _SMALLER),
    Rule(_MATRIX, _cancelled,
         "overflow of {op}: at {n} partial sums exceeded {largest}, the largest {dtype}, to both sides (inf - inf)",
         _SMALLER),
    Rule(_ops("Mean Max Min"), _of_nothing, "{op} of nothing: {a} has no elements",
         "An empty batch or a mask that keeps nothing: test tf.size(x) > 0, or tf.math.divide_no_nan(sum, count)."),
    Rule(_TOTALS, _overflow, "overflow of {op}: at {n} the total exceeds {largest}, the largest {dtype}",
         _DIVERGES),
    Rule(_TOTALS, _cancelled,
         "overflow of {op}: at {n} partial sums exceeded {largest}, the largest {dtype}, to both sides (inf - inf)",
         _DIVERGES),
    # Conversions, losses, normalization, updates.
    Rule(_ops("Cast"), _overflow, "overflow of a cast: at {n} {a} exceeds {largest}, the largest {dtype}",
         "Keep this value in float32, or scale it down (loss scaling) before the cast."),
    Rule(_ops("SparseSoftmaxCrossEntropyWithLogits"), _label_outside,
         "a label outside of the classes: {b} holds a number below 0 or not below the number of classes in {a}",
         "Compare the labels with the width of the logits; labels count from 0."),
    Rule(_ops("ApplyAdam"), _adam_epsilon_zero,
         "division by 0 in Adam: epsilon is 0 in {dtype}, where 1e-8 does not fit",
         "Give Adam an epsilon that {dtype} can hold, such as 1e-4, or keep the variables in float32."),
    Rule(_ops("Softmax LogSoftmax"), _input_bad(0),
         "{op} of a row that holds NaN, +inf, or nothing but -inf",
         "Mask with a large negative number such as -1e9 instead of -inf, and leave one element of each row open."),
)  # fmt: skip


def explain(evidence: Evidence) -> Cause | None:
    """The rules that hold, the one for most elements first; None when none of them fits."""
    left = np.ones(evidence.outputs.shape, np.bool_)
    found: list[tuple[int, Rule]] = []
    with np.errstate(all="ignore"):
        for rule in RULES:
            if evidence.op_type not in rule.ops or not left.any():
                continue
            held = rule.holds(evidence)
            explained = left & held if held is not None else None
            if explained is not None and explained.any():
                found.append((int(explained.sum()), rule))
                left = left & ~explained
    if not found:
        return None
    found.sort(key=lambda pair: -pair[0])
    sentences = [_filled(rule.cause, evidence, n) for n, rule in found]
    text = "; ".join([sentences[0][0].upper() + sentences[0][1:], *sentences[1:]])
    return Cause(f"{text}.", _filled(_advice(found[0][1], evidence), evidence, found[0][0]))


def _advice(rule: Rule, evidence: Evidence) -> str:
    """The suggestion of `rule`, or what fits better where the input was fed or the numbers are short."""
    if rule.suggestion is _PROBABILITY and evidence.fed[:1] == (True,):
        return _FED
    if rule.suggestion is _DIVERGES and evidence.dtype in _HALF_PRECISION:
        return _WIDER
    return rule.suggestion


def _filled(template: str, evidence: Evidence, n: int) -> str:
    half = evidence.dtype in _HALF_PRECISION
    words = {
        "half": " In half precision, scale the loss or compute this step in float32." if half else "",
        "a": evidence.name(0),
        "b": evidence.name(1),
        "n": f"{n} element{'s' * (n != 1)}",
        "op": evidence.op_type.lstrip("_"),
        "dtype": evidence.dtype,
        "largest": f"{evidence.largest:.3g}",
        "limit": f"{np.log(evidence.largest):.3g}",
    }
    # One pass, and not str.format: a node name may hold braces of its own.
    return re.sub(r"\{(\w+)\}", lambda match: words[match[1]], template)
