"""Why an op gave NaN or infinity, and what helps: a table of the ways that arithmetic knows.

Each row names the ops it is about, a test that says for which of the offending elements it holds, the cause and what
helps. Of two rows that hold for an element the first one counts, so special cases come before general ones. To teach
tfdbg another cause, add a row.
"""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.batch.batch_roles import BatchRole
from tfdbg_cli.analysis.causes import suggestions as helps
from tfdbg_cli.analysis.causes.overflows import HALF, overflows
from tfdbg_cli.analysis.causes.reasons import (
    Reason,
    alike,
    among,
    any_of,
    at_limit,
    both,
    by_large_weights,
    by_state,
    cancelled,
    counts,
    epsilon_lost,
    epsilon_zero,
    extreme_of_nothing_open,
    in_gradient,
    in_optimizer,
    label_masked,
    label_outside,
    labels_too_long,
    logged,
    made,
    masking,
    no_loss,
    nothing_but_minus_inf,
    of,
    of_gradient,
    of_half_log_variance,
    of_log_variance,
    of_nothing,
    overflow,
    part,
    scaled,
    sign_lost,
    slope,
    slope_again,
    step_of_nan,
    step_too_long,
    varying,
)
from tfdbg_cli.analysis.graph.making.makers import Maker
from tfdbg_cli.analysis.graph.making.variance_axes import VarianceOf
from tfdbg_cli.ops.kinds import ops

_SOFTMAX, _SIGMOID, _DATA = (Maker.SOFTMAX,), (Maker.SIGMOID,), (Maker.DATA,)
_NORM, _DEVIATION, _MASK = (Maker.NORM,), (Maker.DEVIATION,), (Maker.MASK,)
_COMPUTED = tuple(set(Maker) - {Maker.DATA, Maker.VARIABLE, Maker.COUNTER, Maker.CONSTANT, Maker.MASK})
_CONSTANT = (Maker.CONSTANT,)
_SEGMENTS, _RECTIFIED, _COUNTER = (Maker.SEGMENTS,), (Maker.RECTIFIED,), (Maker.COUNTER,)
_PLAIN = (Maker.OTHER, Maker.VARIABLE, Maker.PRODUCT, Maker.STATE)  # no probability
_FREQUENCY = (Maker.FREQUENCY,)
_VARIANCE, _MOMENTS = (Maker.VARIANCE, Maker.MOMENTS), (Maker.MOMENTS,)

_DIVISIONS = ops("RealDiv Div Xdivy TruncateDiv")
_COMPLEX = ("complex64", "complex128")
_REMAINDERS = ops("FloorMod Mod TruncateMod")
_RECIPROCALS = ops("Reciprocal Inv")
_PRODUCTS = ops("Mul SquaredDifference")
_POWERS = ops("Pow Square")
_SUMS = ops("Add AddV2 Sub AddN BiasAdd")
_MATRIX = ops(
    "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 _FusedMatMul _FusedBatchMatMulV2 Einsum Conv1D Conv2D Conv3D"
    " DepthwiseConv2dNative _FusedConv2D _FusedDepthwiseConv2dNative Conv2DBackpropInput Conv2DBackpropFilter"
)
_WITH_EPSILON = ops("ApplyAdam ApplyAdaMax ApplyAdadelta ApplyRMSProp ApplyCenteredRMSProp UpdatedVariable")
_CROSS_ENTROPIES = ops("SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits")
_ADDED_TO = ops("AssignAdd AssignSub ScatterAdd ScatterSub ScatterNdAdd ScatterNdSub")  # variables of the old kind
_TOTALS = ops("Sum Mean Prod L2Loss Cumsum Cumprod EuclideanNorm UnsortedSegmentSum SegmentSum AddN AccumulateNV2")

_ABOVE = "overflow of {op}: {a} is above {limit} at {n}, so that the result exceeds {largest}, the largest {dtype}"
_CAST = "overflow of a cast: at {n} {a} exceeds {largest}, the largest {dtype}"


REASONS: tuple[Reason, ...] = (
    # Logarithms.
    Reason(ops("Log"), made(0, _SOFTMAX, of(0, lambda x: x == 0)),
        "log of 0: {a}, a softmax, is 0 at {n}: so unlikely that it rounds to 0", helps.LOGITS),
    Reason(ops("Log"), made(0, _SIGMOID, of(0, lambda x: x == 0)),
        "log of 0: {a}, made of a sigmoid, is 0 at {n}: so sure that it rounds to 0 or 1", helps.BINARY_LOGITS),
    Reason(ops("Log"), made(0, (Maker.SHIFTED_EXPONENTIALS,), of(0, lambda x: x == 0)),
        "log-sum-exp of a row that is nothing but -inf: {a}, its sum of exponentials, is 0 at {n}", helps.OPEN_ROW),
    Reason(ops("Log"), made(0, (Maker.EXPONENTIALS,), of(0, lambda x: x == 0)),
        "log of 0: {a}, a sum of exponentials, is 0 at {n}: all of them are too small for {dtype}",
        helps.LOG_SUM_EXP),
    Reason(ops("Log"), made(0, (Maker.WEIGHTED_EXPONENTIALS,), of(0, lambda x: x == 0)),
        "log of 0: {a}, a weighted sum of exponentials, is 0 at {n}: all of its terms are too small for {dtype}",
        helps.WEIGHTED_LOG_SUM_EXP),
    Reason(ops("Log"), made(0, (Maker.PRODUCT,), of(0, lambda x: x == 0)),
        "log of 0: {a}, a product, is 0 at {n}: together its factors are too small for {dtype}, or one of them is 0",
        helps.SUM_OF_LOGS),
    Reason(ops("Log"), made(0, _RECTIFIED, of(0, lambda x: x == 0)), "log of 0: {a}, a relu, is 0 at {n}",
        helps.RECTIFIED),
    Reason(ops("Log"), made(0, _COUNTER, of(0, lambda x: x == 0)),
        "log of 0: {a}, which depends on the step alone, is 0", helps.FROM_ONE),
    Reason(ops("Log"), part(0, BatchRole.TARGETS, of(0, lambda x: x == 0)), "log of 0: {a} is 0 at {n}",
        helps.SWAPPED),
    Reason(ops("Log"), part(0, BatchRole.TARGETS, of(0, lambda x: x.real < 0)),
        "log of a negative number: {a} is negative at {n}", helps.SWAPPED),
    Reason(ops("Log"), made(0, _DATA, of(0, lambda x: x == 0)), "log of 0: {a} is 0 at {n}", helps.FED),
    Reason(ops("Log"), made(0, _DATA, of(0, lambda x: x.real < 0)),
        "log of a negative number: {a} is negative at {n}", helps.FED),
    Reason(ops("Log"), made(0, _PLAIN, of(0, lambda x: x == 0)), "log of 0: {a} is 0 at {n}",
        helps.AWAY_FROM_ZERO_LOG),
    Reason(ops("Log"), of(0, lambda x: x == 0), "log of 0: {a} is 0 at {n}", helps.PROBABILITY),
    Reason(ops("Log"), made(0, _PLAIN, of(0, lambda x: x.real < 0)),
        "log of a negative number: {a} is negative at {n}", helps.POSITIVE),
    Reason(ops("Log"), of(0, lambda x: x.real < 0),
        "log of a negative number: {a} is negative at {n}", helps.PROBABILITY),
    Reason(ops("Log1p"), of(0, lambda x: x == -1), "log1p of -1: {a} is -1 at {n}", helps.BELOW_ONE),
    Reason(
        ops("Log1p"),
        of(0, lambda x: x.real < -1),
        "log1p of a number below -1: {a} is below -1 at {n}",
        "Clip {a} to values above -1 before tf.math.log1p.",
    ),
    Reason(
        ops("Xlogy"),
        of(1, lambda y: y.real <= 0),
        "log of a number that is not positive: {b} is 0 or negative at {n}",
        "Clip {b} with tf.maximum(y, {small}).",
    ),
    # Divisions.
    Reason(_DIVISIONS, made(1, _NORM, of(1, lambda b: b == 0)),
        "division by a norm of 0: {b} is 0 at {n}, the length of a vector that is all 0", helps.UNIT),
    Reason(_DIVISIONS, made(1, _DEVIATION, varying(VarianceOf.VECTOR, of(1, lambda b: b == 0))),
        "division by a deviation of 0: {b}, along the last axis, is 0 at {n}", helps.STANDARD_VECTOR),
    Reason(_DIVISIONS, made(1, _DEVIATION, varying(VarianceOf.ROW, of(1, lambda b: b == 0))),
        "division by a deviation of 0: {b}, that of each row, is 0 at {n}", helps.STANDARD_ROW),
    Reason(_DIVISIONS, made(1, _DEVIATION, of(1, lambda b: b == 0)),
        "division by a deviation of 0: {b} is 0 at {n}", helps.STANDARD),
    Reason(_DIVISIONS, made(1, _COUNTER, both(lambda a, b: (a != 0) & (b == 0))),
        "division by 0: {b}, which depends on the step alone, is 0", helps.FROM_ONE),
    Reason(_DIVISIONS, slope(ops("Atan2"), of(1, lambda b: b == 0)),
        "gradient of atan2 at (0, 0), where it has none: {b}, x² + y², is 0 at {n}", helps.OFF_THE_ORIGIN),
    Reason(_DIVISIONS, slope(ops("Acosh"), of(1, lambda b: b == 0)),
        "gradient of acosh at 1, where it is infinite: {b} is 0 at {n}", helps.ABOVE_ONE),
    Reason(_DIVISIONS, in_optimizer(among(HALF, of(1, lambda b: b == 0))),
        "division by 0 in the optimizer: {b} is 0 at {n}, since an epsilon such as 1e-8 is 0 in {dtype}",
        helps.BIGGER_EPSILON),
    Reason(_DIVISIONS, in_optimizer(of(1, lambda b: b == 0)),
        "division by 0 in the optimizer: {b} is 0 at {n}, and no epsilon keeps it above",
        helps.SOME_EPSILON),
    Reason(_DIVISIONS, made(0, _SEGMENTS, made(1, _SEGMENTS, counts(1, both(lambda a, b: (a == 0) & (b == 0))))),
        "0 / 0: {a} and {b}, sums over segments, are both 0 at {n}: rows or segments that hold nothing",
        helps.EMPTY_SEGMENTS, blames=1),
    Reason(_DIVISIONS, made(0, _SEGMENTS, made(1, _SEGMENTS, both(lambda a, b: (a == 0) & (b == 0)))),
        "0 / 0: {a} and {b}, sums over segments, are both 0 at {n}: segments that hold nothing, or nothing but 0",
        helps.WEIGHTLESS_SEGMENTS, blames=1),
    Reason(_DIVISIONS, made(1, _FREQUENCY, both(lambda a, b: (a == 0) & (b == 0))),
        "0 / 0: {a} and {b}, which tells how often a condition holds, are both 0 at {n}: it never does there, as of a"
        " mask that keeps nothing", helps.EMPTY_MASK, blames=1),
    Reason(_DIVISIONS, made(1, _FREQUENCY, of(1, lambda b: b == 0)),
        "division by 0: {b}, which tells how often a condition holds, is 0 at {n}: it never does there, as of a mask"
        " that keeps nothing", helps.EMPTY_MASK),
    Reason(_DIVISIONS, logged(both(lambda a, b: (a == 0) & (b == 0))),
        "0 / 0: {a} and {b} are both 0 at {n}", helps.LOG_OF_QUOTIENT, blames=1),
    Reason(_DIVISIONS, both(lambda a, b: (a == 0) & (b == 0)),
        "0 / 0: {a} and {b} are both 0 at {n}", helps.SAFE_DIVIDE, blames=1),
    Reason(_DIVISIONS, both(lambda a, b: np.isinf(a) & np.isinf(b)), "inf / inf: {a} and {b} are infinite at {n}",
        helps.CAME_FROM),
    Reason(_REMAINDERS, of(1, lambda b: b == 0), "division by 0: {b} is 0 at {n}", helps.REMAINDER),
    Reason(ops("FloorDiv"), of(1, lambda b: b == 0), "division by 0: {b} is 0 at {n}", helps.SAFE_FLOOR_DIVIDE),
    Reason(_DIVISIONS, logged(of(1, lambda b: b == 0)), "division by 0: {b} is 0 at {n}", helps.LOG_OF_QUOTIENT),
    Reason(_DIVISIONS, of(1, lambda b: b == 0), "division by 0: {b} is 0 at {n}", helps.SAFE_DIVIDE),
    Reason(
        _DIVISIONS,
        overflow,
        "overflow of a division: {b} is so small at {n}, down to {least_b}, that the quotient exceeds {largest}, the"
        " largest {dtype}",
        helps.DIVISIBLE,
    ),
    Reason(_RECIPROCALS, made(0, _COUNTER, of(0, lambda x: x == 0)),
        "division by 0: the reciprocal of {a}, which depends on the step alone, is taken of 0", helps.FROM_ONE),
    Reason(_RECIPROCALS, slope(ops("Acos Asin Atanh"), of(0, lambda x: x == 0)),
        "gradient of {slope} at 1 or -1, where it is infinite: 1 / {a}, which is 0 at {n}", helps.CLIP_UNIT),
    Reason(_RECIPROCALS, slope(ops("Log"), of(0, lambda x: x == 0)),
        "gradient of a logarithm at 0: 1 / {a}, which is 0 at {n}", helps.AWAY_FROM_ZERO),
    Reason(_RECIPROCALS, among(_COMPLEX, of(0, lambda x: x == 0)),
        "division by 0: the reciprocal of {a}, which is 0 at {n}", helps.COMPLEX_AWAY_FROM_ZERO),
    Reason(_RECIPROCALS, in_gradient(of(0, lambda x: x == 0)),
        "division by 0: the reciprocal of {a}, which is 0 at {n}", helps.AWAY_FROM_ZERO),
    Reason(_RECIPROCALS, of(0, lambda x: x == 0), "division by 0: the reciprocal of {a}, which is 0 at {n}",
        helps.SAFE_RECIPROCAL),
    Reason(_RECIPROCALS, overflow,
        "overflow of a reciprocal: {a} is so small at {n} that 1 / {least_a} exceeds {largest}, the largest {dtype}",
        helps.INVERTIBLE),
    # Roots and powers.
    Reason(ops("Sqrt Rsqrt"), made(0, _MOMENTS, of(0, lambda x: x.real < 0)),
        "square root of a negative number: {a}, a variance as E[x²]-E[x]², is negative by rounding at {n}",
        "Use tf.nn.moments or tf.math.reduce_variance, which cannot go below 0."),
    Reason(ops("Sqrt"), slope(ops("Acos Asin"), of(0, lambda x: x.real < 0)),
        "the gradient of {slope} of a number beyond 1: it takes the root of {a}, 1 - x², which is negative at {n}",
        helps.CLIP_UNIT),
    Reason(ops("Sqrt Rsqrt"), made(0, (Maker.EIGENVALUES,), of(0, lambda x: x.real < 0)),
        "square root of a negative number: {a}, eigenvalues, is negative at {n}, if only by rounding",
        helps.EIGENVALUES),
    Reason(ops("Rsqrt"), made(0, (Maker.EIGENVALUES,), of(0, lambda x: x == 0)),
        "1/sqrt of 0: {a}, eigenvalues, is 0 at {n}: the matrix is singular", helps.EIGENVALUES),
    Reason(ops("Rsqrt"), of(0, lambda x: x.real < 0), "square root of a negative number: {a} is negative at {n}",
        helps.ABOVE_ZERO),
    Reason(
        ops("Sqrt"),
        of(0, lambda x: x.real < 0),
        "square root of a negative number: {a} is negative at {n}",
        "Clip it with tf.maximum(x, 0.0); a variance computed as E[x²]-E[x]² goes below 0 by rounding:"
        " use tf.nn.moments.",
    ),
    Reason(ops("Rsqrt"), varying(VarianceOf.FEATURE, of(0, lambda x: x == 0)),
        "1/sqrt of 0: {a}, a variance, is 0 at {n}: a feature that is the same in every row, or one row alone",
        helps.EPS_OF_ROWS),
    Reason(ops("Rsqrt"), varying(VarianceOf.VECTOR, of(0, lambda x: x == 0)),
        "1/sqrt of 0: {a}, a variance along the last axis, is 0 at {n}: a vector whose features are all the same, or"
        " one feature alone", helps.EPS_OF_FEATURES),
    Reason(ops("Rsqrt"), made(0, _VARIANCE, of(0, lambda x: x == 0)),
        "1/sqrt of 0: {a}, a variance, is 0 at {n}: of numbers that are all the same, or of one alone",
        helps.EPS_VARIANCE),
    Reason(ops("Rsqrt"), made(0, (Maker.SQUARED_NORM,), of(0, lambda x: x == 0)),
        "1/sqrt of 0: {a}, a sum of squares, is 0 at {n}, of a vector that is all 0", helps.UNIT),
    Reason(ops("Rsqrt"), made(0, (Maker.MEAN_SQUARE,), of(0, lambda x: x == 0)),
        "1/sqrt of 0: {a}, a mean of squares, is 0 at {n}, of a vector that is all 0", helps.RMS),
    Reason(ops("Rsqrt"), made(0, _COUNTER, of(0, lambda x: x == 0)),
        "1/sqrt of 0: {a}, which depends on the step alone, is 0", helps.FROM_ONE),
    Reason(ops("Rsqrt"), of(0, lambda x: x == 0), "1/sqrt of 0: {a} is 0 at {n}",
        "Add a small eps: tf.math.rsqrt(x + {steep})."),
    Reason(ops("SqrtGrad"), made(0, _NORM, of(0, lambda y: y == 0)),
        "gradient of a square root at 0, of a norm: {a} is 0 at {n}", helps.EPS_NORM),
    Reason(ops("SqrtGrad"), made(0, _DEVIATION, of(0, lambda y: y == 0)),
        "gradient of a square root at 0, of a deviation: {a} is 0 at {n}", helps.EPS_DEVIATION),
    Reason(ops("SqrtGrad"), of(0, lambda y: y == 0),
        "gradient of a square root at 0: {a} is 0 at {n}", helps.EPS_SQRT),
    Reason(ops("RsqrtGrad InvGrad ReciprocalGrad"), of(0, np.isinf),
        "gradient of 1/sqrt or of a reciprocal at 0: {a} is infinite at {n}", helps.INVERTIBLE_SLOPE),
    Reason(ops("SqrtGrad"), overflow,
        "overflow of the gradient of a square root: {a} is so small at {n}, down to {least_a}, that 1 / (2 * root)"
        " exceeds {largest}, the largest {dtype}", helps.EPS_SQRT),
    Reason(ops("RsqrtGrad"), overflow,
        "overflow of the gradient of 1/sqrt: {a} is so large at {n}, up to {most_a}, that its third power exceeds"
        " {largest}, the largest {dtype}", helps.INVERTIBLE_SLOPE),
    Reason(ops("InvGrad ReciprocalGrad"), overflow,
        "overflow of the gradient of a reciprocal: {a} is so large at {n}, up to {most_a}, that its square exceeds"
        " {largest}, the largest {dtype}", helps.INVERTIBLE_SLOPE),
    Reason(ops("Pow"), slope(ops("Pow"), both(lambda a, b: (a == 0) & (b.real < 0) & (b == np.floor(b.real)))),
        "gradient of the gradients of a whole power at 0: {a} is 0 at {n}, and 0 to the power of"
        " {b}, which is negative, is infinite",
        helps.PRODUCT),
    Reason(ops("Pow"), slope(ops("Pow"), slope_again(both(lambda a, b: (a == 0) & (b.real < 0)))),
        "gradient of the gradients of a power at 0: {a} is 0 at {n}, and 0 to the power of {b}, which is negative,"
        " is infinite", helps.BASE_FROM_0),
    Reason(ops("Pow"), slope(ops("Pow"), both(lambda a, b: (a == 0) & (b.real < 0))),
        "gradient of a power below 1 at 0, where it is infinite: {a} is 0 at {n}",
        helps.BASE_FROM_0),
    Reason(ops("Pow"), made(0, _COUNTER, both(lambda a, b: (a == 0) & (b.real < 0))),
        "0 to a negative power: {a}, which depends on the step alone, is 0", helps.FROM_ONE),
    Reason(
        ops("Pow"),
        both(lambda a, b: (a == 0) & (b.real < 0)),
        "0 to a negative power: {a} is 0 where {b} is negative, at {n}",
        "Keep the base away from 0: tf.maximum(x, {small}).",
    ),
    Reason(
        ops("Pow"),
        both(sign_lost),
        "a negative number to a fractional power: {a} is negative at {n}",
        "Clip the base with tf.maximum(x, {small}), which is above 0 for the gradient's sake, or take tf.abs.",
    ),
    Reason(_POWERS, of_gradient(overflow),
        "overflow of a power: at {n} that of the gradient {a} exceeds {largest}, the largest {dtype}",
        helps.UPDATE),
    *overflows(_POWERS, "overflow of a power: at {n} the result", helps.SMALLER),
    # Exponentials.
    Reason(ops("Exp"), of_log_variance(overflow),
        "overflow of {op}: {a}, the logarithm of a variance, is above {limit} at {n}, so that the variance exceeds"
        " {largest}, the largest {dtype}", helps.LOG_VARIANCE),
    Reason(ops("Exp"), of_half_log_variance(overflow),
        "overflow of {op}: {a}, half the logarithm of a variance, is above {limit} at {n}, so that the deviation"
        " exceeds {largest}, the largest {dtype}", helps.LOG_VARIANCE),
    Reason(ops("Cosh"), slope(ops("Sinh"), overflow), f"gradient of sinh: {_ABOVE}", helps.EXPONENT),
    Reason(ops("Cosh"), overflow, _ABOVE, helps.LOG_COSH),
    Reason(ops("Expm1"), overflow, _ABOVE, helps.LOG_EXPM1),
    Reason(ops("Exp Sinh"), overflow, _ABOVE, helps.EXPONENT),
    # Functions with a bounded domain.
    Reason(ops("Acos Asin Atanh Erfinv"), of(0, lambda x: np.abs(x) > 1),
        "{op} outside of [-1, 1]: {a} is outside at {n}", helps.CLIP_UNIT),
    Reason(ops("Atanh Erfinv"), of(0, lambda x: np.abs(x) == 1), "{op} of 1 or -1: {a} is at the border at {n}",
        helps.CLIP_UNIT),
    Reason(ops("Cholesky"), lambda evidence: np.isnan(evidence.outputs) if evidence.finite_inputs else None,
        "Cholesky of a matrix that is not positive definite: {a}", helps.DEFINITE),
    Reason(ops("LogMatrixDeterminant"),
        lambda evidence: np.isinf(evidence.outputs) if evidence.finite_inputs else None,
        "log of the determinant of a singular matrix: that of {a} is 0, or too small for {dtype}", helps.DEFINITE),
    Reason(ops("Acosh"), of(0, lambda x: x.real < 1), "acosh of a number below 1: {a} is below 1 at {n}",
        "Clip it: tf.maximum(x, 1.0)."),
    Reason(ops("Ndtri"), of(0, lambda x: (x <= 0) | (x >= 1)),
        "the quantile of a probability that is not between 0 and 1: {a} is not at {n}",
        "Clip it: tf.clip_by_value(p, 1e-6, 1 - 1e-6)."),
    Reason(ops("Lgamma Digamma"), of(0, lambda x: (x.real <= 0) & (x == np.floor(x.real))),
        "{op} has a pole at 0 and the negative integers: {a} is there at {n}",
        "Keep {a} positive: tf.nn.softplus(x) + {small}, or tf.maximum(x, {small}); of counts, check the data."),
    # Sums and products.
    Reason(ops("Mul MulNoNan"), made(0, _MASK, both(lambda a, b: np.isinf(a) & (b == 0))),
        "0 * inf: {a} is infinite and {b} is 0 at {n}, a mask made by a product",
        helps.CHOOSE),
    Reason(ops("Mul MulNoNan"), made(1, _MASK, both(lambda a, b: np.isinf(b) & (a == 0))),
        "0 * inf: {b} is infinite and {a} is 0 at {n}, a mask made by a product",
        helps.CHOOSE),
    Reason(ops("Mul MulNoNan"),
        in_gradient(both(lambda a, b: ((a == 0) & np.isinf(b)) | ((b == 0) & np.isinf(a)))),
        "0 * inf in a gradient: of {a} and {b} one is 0 and one infinite at {n}", helps.CAME_FROM),
    Reason(ops("Mul MulNoNan"), both(lambda a, b: ((a == 0) & np.isinf(b)) | ((b == 0) & np.isinf(a))),
        "0 * inf: of {a} and {b} one is 0 and one infinite at {n}",
        "A mask by multiplication does not remove infinities: use tf.where, or tf.math.multiply_no_nan."),
    Reason(ops("Add AddV2"), both(lambda a, b: np.isinf(a) & np.isinf(b) & (np.sign(a) != np.sign(b))),
        "inf - inf: {a} and {b} are infinite with opposite signs at {n}",
        helps.CAME_FROM),
    Reason(ops("Sub"),
        alike(made(0, _MASK, both(lambda a, b: np.isinf(a) & np.isinf(b) & (np.sign(a) == np.sign(b))))),
        "inf - inf: {a} and {b} are infinite with the same sign at {n}, by masks", f"{helps.NO_INF}."),
    Reason(ops("Sub"), made(0, _MASK, both(lambda a, b: np.isinf(a) & np.isinf(b) & (np.sign(a) == np.sign(b)))),
        "inf - inf: {a} and {b} are infinite with the same sign at {n}, by a mask",
        f"{helps.NO_INF}, or use tf.nn.softmax and leave one element of each row open."),
    Reason(ops("Sub SquaredDifference"), both(lambda a, b: np.isinf(a) & np.isinf(b) & (np.sign(a) == np.sign(b))),
        "inf - inf: {a} and {b} are infinite with the same sign at {n}",
        helps.CAME_FROM),
    *overflows(_PRODUCTS, "overflow of a product: at {n} the result", helps.SMALLER),
    *overflows(_SUMS, "overflow of a sum: at {n} the result", helps.SMALLER),
    Reason(_MATRIX, by_state(by_large_weights(overflow)),
        "overflow of {op}: at {n} the sum of products exceeds {largest}, the largest {dtype}; {large} is what a loop"
        " carries from turn to turn, and it is multiplied by weights as large as {weight}", helps.LARGE_WEIGHTS),
    *overflows(_MATRIX, "overflow of {op}: at {n} the sum of products", helps.SMALLER),
    Reason(_MATRIX, cancelled,
        "overflow of {op}: at {n} partial sums exceeded {largest}, the largest {dtype}, to both sides (inf - inf)",
        helps.SMALLER),
    Reason(ops("Max"), extreme_of_nothing_open,
        "the largest of a row that is nothing but -inf: {a} is closed throughout at {n}", helps.EMPTY_MAXIMUM),
    Reason(ops("Mean Max Min"), of_nothing, "{op} of nothing: {a} has no elements",
        "An empty batch or a mask that keeps nothing: test tf.size(x) > 0, or tf.math.divide_no_nan(sum, count)."),
    Reason(_TOTALS, made(0, (Maker.SEGMENT_EXTREMES,), at_limit(overflow)),
        "overflow of {op}: {a}, the largest or least of each segment, is {largest} or its negative where a segment"
        " holds nothing, and the total at {n} exceeds it", helps.CLOSED_SEGMENTS),
    *overflows(_TOTALS, "overflow of {op}: at {n} the total", helps.DIVERGES, helps.WIDER),
    Reason(_TOTALS, cancelled,
        "overflow of {op}: at {n} partial sums exceeded {largest}, the largest {dtype}, to both sides (inf - inf)",
        helps.DIVERGES),
    # Conversions, losses, normalization, updates.
    Reason(ops("Cast"), made(0, _DATA, overflow), _CAST, helps.DATA_IN_REACH),
    Reason(ops("Cast"), made(0, _CONSTANT, overflow), _CAST, helps.HELD_CONSTANT),
    Reason(ops("Cast"), masking(overflow), _CAST, helps.HELD_CONSTANT),
    Reason(ops("Cast"), in_gradient(scaled(overflow)), _CAST, helps.SCALED_LESS),
    Reason(ops("Cast"), in_gradient(overflow), _CAST, helps.SCALED),
    Reason(ops("Cast"), made(0, _COMPUTED, no_loss(overflow)), _CAST, helps.FORWARD_IN_REACH),
    Reason(ops("Cast"), scaled(overflow), _CAST, helps.SCALED_LESS),
    Reason(ops("Cast"), overflow, _CAST, helps.SCALED),
    Reason(ops("SparseSoftmaxCrossEntropyWithLogits"), label_outside,
        "a label outside of the classes: {b} holds a number below 0 or not below the number of classes in {a}",
        "Compare the labels with the width of the logits; labels count from 0."),
    Reason(_CROSS_ENTROPIES, label_masked,
        "a masked label: at {n} {b} names a class whose logit in {a} is -inf", helps.MASKED_LABEL, blames=1),
    Reason(ops("CTCLoss CTCLossV2"), labels_too_long,
        "labels too long for the steps: at {n} those in {c} take more steps than there are in {a}",
        helps.MORE_STEPS),
    Reason(_WITH_EPSILON, epsilon_lost,
        "division by 0 in the optimizer: its epsilon is 0 in {dtype}, where 1e-8 does not fit",
        helps.BIGGER_EPSILON),
    Reason(_WITH_EPSILON, epsilon_zero, "division by 0 in the optimizer: its epsilon is 0", helps.SOME_EPSILON),
    Reason(ops("UpdatedVariable"), step_too_long,
        "the update itself overflows: {variable} and its step are finite, the sum at {n} exceeds {largest}, the"
        " largest {dtype}", helps.UPDATE),
    Reason(_ADDED_TO, overflow,
        "the update itself overflows: {a} and its step are finite, the sum at {n} exceeds {largest}, the largest"
        " {dtype}", helps.UPDATE),
    Reason(ops("UpdatedVariable"), step_of_nan,
        "0 / 0 within the update: {variable} is NaN at {n} after it, out of finite numbers", helps.BIGGER_EPSILON),
    Reason(ops("Softmax LogSoftmax") | _CROSS_ENTROPIES, any_of(0, nothing_but_minus_inf),
        "{op} of a row that is nothing but -inf in {a}", helps.OPEN_ROW),
    Reason(_CROSS_ENTROPIES, any_of(0, lambda x: np.isnan(x) | np.isposinf(x)),
        "{op} of a row that holds NaN or +inf in {a}", "Look where it came from: `origin --benign show`."),
    Reason(ops("Softmax LogSoftmax"), any_of(0, lambda x: ~np.isfinite(x)),
        "{op} of a row that holds NaN or +inf in {a}", "Look where it came from: `origin --benign show`."),
)  # fmt: skip
