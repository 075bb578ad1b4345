"""Causes: each row of the table is reached by the arithmetic it is about, with NumPy as the judge."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.made_run import INF, NAN, made_run, op

from tfdbg_cli.analysis.batch.batch_roles import BatchRole
from tfdbg_cli.analysis.causes.causes import explain
from tfdbg_cli.analysis.causes.evidence import Evidence, gather
from tfdbg_cli.analysis.causes.reasons import Reason
from tfdbg_cli.analysis.causes.safe_numbers import safe_numbers
from tfdbg_cli.analysis.causes.surroundings import Surroundings, asks_of_gradients, scales_loss
from tfdbg_cli.analysis.causes.table import REASONS
from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.graph.making.makers import Maker
from tfdbg_cli.analysis.graph.making.variance_axes import VarianceOf
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.values import Array


@dataclass(frozen=True)
class Case:
    op: str
    inputs: tuple[Any, ...]
    does: Callable[..., Any]
    cause: str
    suggestion: str = ""
    dtype: Any = np.float32
    attributes: dict[str, str] = field(default_factory=dict)
    node: str = "n"
    names: tuple[str, ...] = ()
    around: Surroundings = field(default_factory=Surroundings)


def _made(*makers: Maker | None) -> Surroundings:
    return Surroundings(makers)


TARGETS = Surroundings((Maker.DATA,), batch=(BatchRole.TARGETS,))
WRITTEN = _made(Maker.OTHER, Maker.CONSTANT)
GREW = Surroundings(grown=("w", 3e19))
WAS_WRITTEN = Surroundings(grown=("w", 3e19), grown_untrained=True)


def _f(value: Any, dtype: Any = np.float32) -> Array:
    return np.asarray(value, dtype)


BIG = 3e38
OVERFLOWS: list[tuple[str, tuple[Any, ...], Callable[..., Any]]] = [
    ("Pow", ([1e30], [2.0]), np.power), ("Mul", ([1e30], [1e30]), np.multiply), ("AddV2", ([BIG], [BIG]), np.add),
    ("MatMul", ([[1e30]], [[1e30]]), np.matmul), ("Sum", ([BIG, BIG],), np.sum),
]  # fmt: skip
HALF_OVERFLOWS: list[tuple[str, tuple[Any, ...], Callable[..., Any]]] = [
    ("MatMul", ([[300.0]], [[300.0]]), np.matmul), ("Square", ([300.0],), np.square),
    ("Mul", ([300.0], [300.0]), np.multiply), ("AddV2", ([6e4], [6e4]), np.add), ("Sum", ([6e4, 6e4],), np.sum),
]  # fmt: skip
CASES = [
    Case("Log", ([0.0, 1.0],), np.log, "Log of 0: in0:0 is 0 at 1 element.", "log_softmax"),
    Case("Log", ([-1.0, 1.0],), np.log, "Log of a negative number: in0:0 is negative at 1 element", "log_softmax"),
    Case("Log", ([-1.0] * 2200,), np.log, "Log of a negative number: in0:0 is negative at 2,200 elements"),
    Case("Log", ([0.0, -1.0, -2.0],), np.log, "Log of a negative number: in0:0 is negative at 2 elements; log of 0"),
    Case("Log1p", ([-1.0],), np.log1p, "Log1p of -1", "tf.maximum(x, -1 + 1e-7)"),
    Case("Log1p", ([-2.0],), np.log1p, "below -1"),
    Case("Xlogy", ([1.0], [0.0]), lambda a, b: a * np.log(b), "not positive: in1:0"),
    Case("RealDiv", ([1.0], [0.0]), np.divide, "Division by 0: in1:0 is 0", "divide_no_nan"),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "0 / 0: in0:0 and in1:0 are both 0", "divide_no_nan"),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "0 / 0: in0:0 and in1:0, which tells how often a condition holds, are",
         "tf.math.divide_no_nan(x, y)", around=_made(Maker.OTHER, Maker.FREQUENCY)),
    Case("RealDiv", ([1.0], [0.0]), np.divide, "Division by 0: in1:0, which tells how often a condition holds, is 0",
         "tf.math.divide_no_nan(x, y)", around=_made(Maker.OTHER, Maker.FREQUENCY)),
    Case("RealDiv", ([INF], [INF]), np.divide, "Inf / inf"),
    Case("RealDiv", ([1e38], [1e-20]), np.divide, "Overflow of a division: in1:0 is so small at 1 element, down to"
         " 1e-20,", "tf.maximum(y, 1e-7)"),
    Case("RealDiv", ([1.0], [1.19e-7]), np.divide, "down to 1.19e-07", "tf.maximum(y, 1e-2)", np.float16),
    Case("Reciprocal", ([1.19e-7],), np.reciprocal, "so small at 1 element that 1 / 1.19e-07 exceeds 6.55e+04, the",
         "tf.maximum(x, 1e-4)", np.float16),
    Case("SqrtGrad", ([1e-20], [1e20]), lambda y, dy: dy * np.float32(0.5) / y, "Overflow of the gradient of a"
         " square", "1e-12"),
    Case("RsqrtGrad", ([2896.0], [1.0]), lambda y, dy: -dy * y * y * y / 2, "1/sqrt: in0:0 is so large at 1 element,"
         " up to 2.9e+03, that its third power", "x + 1e-2", np.float16),
    Case("ReciprocalGrad", ([300.0], [1.0]), lambda y, dy: -dy * y * y, "that its square exceeds", "x + 1e-2",
         np.float16),
    Case("CTCLoss", (np.zeros((3, 2, 6), np.float32), np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
         np.array([1, 1, 1, 2]), np.array([2, 2])),
         lambda *a: _f([INF, 1.0]), "at 1 element those in in2:0 take more steps than there are in"
         " in0:0", "a step each"),
    Case("FloorMod", ([1.0], [0.0]), np.mod, "Division by 0", "floormod"),
    Case("FloorDiv", ([1.0], [0.0]), np.floor_divide, "Division by 0", "tf.floor"),
    Case("Reciprocal", ([0.0],), np.reciprocal, "the reciprocal of in0:0", "no angle", dtype=np.complex64),
    Case("Cosh", ([200.0],), np.cosh, "Overflow of Cosh", "LogCosh"),
    Case("Expm1", ([200.0],), np.expm1, "Overflow of Expm1", "tf.math.expm1(-x)"),
    Case("Reciprocal", ([0.0],), np.reciprocal, "the reciprocal of in0:0"),
    Case("Rsqrt", ([-1e-8],), lambda x: x * NAN, "eigenvalues, is negative", "identity",
         around=_made(Maker.EIGENVALUES)),
    Case("Rsqrt", ([0.0],), lambda x: 1 / x, "the matrix is singular", "identity", around=_made(Maker.EIGENVALUES)),
    Case("Sqrt", ([-1.0],), np.sqrt, "Square root of a negative number", "tf.nn.moments"),
    Case("Rsqrt", ([0.0],), lambda x: 1 / np.sqrt(x), "1/sqrt of 0", "eps"),
    Case("Sum", ([-np.finfo(np.float32).max] * 4,), lambda x: np.full_like(x, -np.inf), "a segment holds nothing",
         "count > 0", around=_made(Maker.SEGMENT_EXTREMES)),
    Case("Rsqrt", ([-1.0],), lambda x: x * NAN, "Square root of a negative number", "above 0, where 1/sqrt is"),
    Case("SqrtGrad", ([0.0], [1.0]), lambda y, dy: dy * 0.5 / y, "gradient of a square root".capitalize(), "1e-12"),
    Case("Pow", ([0.0], [-1.0]), np.power, "0 to a negative power"),
    Case("Pow", ([-1.0], [0.5]), np.power, "A negative number to a fractional power", "tf.maximum(x, 1e-7)"),
    Case("Pow", ([1e30], [2.0]), np.power, "Overflow of a power: at 1 element the result exceeds 3.4e+38"),
    Case("Square", ([300.0],), np.square, "exceeds 6.55e+04, the largest float16", "gradients alone", np.float16),
    Case("Exp", ([100.0, 1.0],), np.exp, "in0:0 is above 88.7 at 1 element", "tf.nn.softmax"),
    Case("Exp", ([100.0],), np.exp, "the logarithm of a variance, is above 88.7", "softplus",
         around=Surroundings(log_variance=True)),
    Case("Exp", ([100.0],), np.exp, "half the logarithm of a variance, is above 88.7", "softplus",
         around=Surroundings(half_log_variance=True)),
    Case("Square", ([2e27],), lambda x: _f([INF]), "that of the gradient", "clip gradients",
         around=Surroundings(gradients=(True,))),
    Case("Exp", ([12.0],), np.exp, "in0:0 is above 11.1", "", np.float16),
    Case("Exp", ([89.0],), np.exp, "largest bfloat16", "", ml_dtypes.bfloat16),
    Case("Acos", ([2.0],), np.arccos, "Acos outside of [-1, 1]", "clip_by_value"),
    Case("Atanh", ([1.0],), np.arctanh, "at the border"),
    Case("Acosh", ([0.5],), np.arccosh, "Acosh of a number below 1"),
    Case("Cholesky", ([[1.0, 2.0], [2.0, 1.0]],), lambda x: x * NAN, "not positive definite", "tf.eye"),
    Case("LogMatrixDeterminant", ([[1.0, 1.0], [1.0, 1.0]],), lambda x: _f([-INF]), "of a singular matrix", "tf.eye"),
    Case("Ndtri", ([1.0],), lambda p: np.full_like(p, INF), "quantile of a probability that is not between 0 and 1"),
    Case("Lgamma", ([-1.0],), lambda x: np.full_like(x, INF), "Lgamma has a pole", "softplus"),
    Case("Mul", ([0.0], [INF]), np.multiply, "0 * inf", "tf.where"),
    Case("Mul", ([0.0], [INF]), np.multiply, "0 * inf in a gradient", "Look where",
         around=Surroundings(gradient=True)),
    Case("Mul", ([1e30], [1e30]), np.multiply, "Overflow of a product", "learning rate"),
    Case("Mul", ([30.0], [7e37]), np.multiply, "Overflow of a product", "in1:0 is a gradient: lower the",
         around=Surroundings((Maker.CONSTANT, Maker.OTHER), gradients=(False, True))),
    *(Case(op, ([7e37, 30.0],), lambda x: np.float32(INF), f"Overflow of {op}", "clip by value before",
           around=Surroundings(gradients=(True,))) for op in ("L2Loss", "EuclideanNorm")),
    Case("Mul", ([7e37], [30.0]), np.multiply, "Overflow of a product", "Bring in0:0 to a size of about 1",
         around=Surroundings(gradients=(False, True))),
    *(Case(op, inputs, does, "Overflow of", "in0:0 is a gradient", around=Surroundings(gradients=(True,)))
      for op, inputs, does in OVERFLOWS if op != "Pow"),
    *(Case(op, inputs, does, "Overflow of", "Nothing but variables is", around=Surroundings(of_variables=(True,)))
      for op, inputs, does in OVERFLOWS),
    Case("AddV2", ([INF], [-INF]), np.add, "Inf - inf"),
    Case("AddV2", ([BIG], [BIG]), np.add, "Overflow of a sum"),
    Case("Sub", ([INF], [INF]), np.subtract, "Inf - inf"),
    Case("MatMul", ([[1e30, 1.0]], [[1e30], [1.0]]), np.matmul, "Overflow of MatMul: at 1 element the sum of"),
    Case("MatMul", ([[1e30, 1e30]], [[1e30], [-1e30]]), lambda a, b: _f([[NAN]]), "to both sides"),
    Case("Mean", ([],), np.mean, "Mean of nothing: in0:0 has no elements", "tf.size"),
    Case("Sum", ([BIG, BIG],), np.sum, "Overflow of Sum: at 1 element the total exceeds", "lower the learning rate"),
    Case("Mean", ([60000.0, 60000.0],), np.sum, "Overflow of Mean: at 1 element", "scale in0:0 down", np.float16),
    Case("Prod", ([1e30, 1e30, -1e30],), lambda x: _f(NAN), "to both sides"),
    Case("Cast", (_f([1e6]),), lambda x: x.astype(np.float16), "Overflow of a cast", "loss scaling", np.float16),
    Case("Cast", (_f([1e6]),), lambda x: x.astype(np.float16), "Overflow of a cast", "of about 1 first", np.float16,
         around=_made(Maker.DATA)),
    Case("Cast", (_f(-1e9),), lambda x: x.astype(np.float16), "Overflow of a cast", "such as -1e4 for a mask",
         np.float16, around=Surroundings((Maker.CONSTANT,), scaled=True)),
    Case("Cast", (_f([0, -1e9, 0]),), lambda x: x.astype(np.float16), "Overflow of a cast", "such as -1e4 for a mask",
         np.float16, around=_made(Maker.OTHER)),
    Case("Cast", (_f([1e6]),), lambda x: x.astype(np.float16), "Overflow of a cast", "Scale in0:0 down", np.float16,
         around=_made(Maker.OTHER)),
    Case("Cast", (_f(1e6),), lambda x: x.astype(np.float16), "Overflow of a cast", "loss scaling", np.float16,
         around=_made(Maker.OTHER)),
    Case("Cast", (_f([1e6]),), lambda x: x.astype(np.float16), "Overflow of a cast", "loss scaling", np.float16,
         around=Surroundings((Maker.OTHER,), gradient=True)),
    Case("Cast", (_f([1e6]),), lambda x: x.astype(np.float16), "Overflow of a cast", "skips the step", np.float16,
         around=Surroundings((Maker.OTHER,), gradient=True, scaled=True)),
    Case("Cast", (_f(1e6),), lambda x: x.astype(np.float16), "Overflow of a cast", "skips the step", np.float16,
         around=Surroundings(scaled=True)),
    Case("Softmax", ([[-INF, -INF]],), lambda x: _f([[NAN, NAN]]), "nothing but -inf", "-1e9"),
    Case(
        "SparseSoftmaxCrossEntropyWithLogits", ([[-INF, -INF]], np.array([1])), lambda a, b: _f([NAN]),
        "nothing but -inf", "-1e9",
    ),
    Case("SoftmaxCrossEntropyWithLogits", ([[INF, 1.0]], [[1.0, 0.0]]), lambda a, b: _f([NAN]), "holds NaN or +inf"),
    Case(
        "SparseSoftmaxCrossEntropyWithLogits", ([[0.0, -INF], [0.0, -INF]], np.array([0, 1])),
        lambda a, b: _f([0.0, INF]), "A masked label: at 1 element in1:0 names a class whose logit in in0:0 is -inf",
        "Look at the mask and the label",
    ),
    Case(
        "SoftmaxCrossEntropyWithLogits", ([[0.0, -INF], [0.0, -INF]], [[0.9, 0.1], [1.0, 0.0]]),
        lambda a, b: _f([INF, 0.0]), "A masked label: at 1 element in1:0 names a class",
    ),
    Case(
        "SparseSoftmaxCrossEntropyWithLogits", ([[0.0, 1.0]], np.array([7])), lambda a, b: _f([NAN]),
        "A label outside of the classes: in1:0", "width of the logits",
    ),
    Case(
        "ApplyAdam", ([1.0], [1.0], [0.0]), lambda *a: _f([NAN], np.float16), "epsilon is 0 in float16", "1e-4",
        np.float16, names=("w", "gradient", "Adam/epsilon"),
    ),
    Case("Log", ([0.0],), np.log, "Log of 0: in0:0, a softmax, is 0", "softmax_cross_entropy",
         around=_made(Maker.SOFTMAX)),
    Case("Log", ([0.0],), np.log, "made of a sigmoid", "sigmoid_cross_entropy_with_logits",
         around=_made(Maker.SIGMOID)),
    Case("Log", ([0.0],), np.log, "a sum of exponentials, is 0 at 1 element: all of them are too small for float32",
         "tf.reduce_logsumexp", around=_made(Maker.EXPONENTIALS)),
    Case("Log", ([0.0],), np.log, "Log-sum-exp of a row that is nothing but -inf: in0:0, its sum of exponentials",
         "leave one element of each row open", around=_made(Maker.SHIFTED_EXPONENTIALS)),
    Case("Log", ([0.0],), np.log, "a weighted sum of exponentials, is 0 at 1 element: all of its terms are too small",
         "tf.reduce_logsumexp(x + tf.math.log(w)", around=_made(Maker.WEIGHTED_EXPONENTIALS)),
    Case("Log", ([0.0],), np.log, "a product, is 0 at 1 element: together its factors are too small for float32",
         "Add up logarithms", around=_made(Maker.PRODUCT)),
    Case("RsqrtGrad", ([INF], [1.0]), lambda y, dy: -dy * y * y * y / 2, "Gradient of 1/sqrt or of a reciprocal at 0",
         "x + 1e-7"),
    *(Case(op, inputs, does, "exceeds 6.55e+04, the largest float16", helps, np.float16,
           around=Surroundings(gradient=True, scaled=scaled))
      for scaled, helps in ((True, "skips the step"), (False, "use a smaller scale"))
      for op, inputs, does in HALF_OVERFLOWS),
    Case("MatMul", ([[1e36]], [[8.8e4]]), np.matmul,
         "turn to turn, and it is multiplied by weights as large as 8.8e+04", "If these grew in training",
         around=_made(Maker.STATE, Maker.VARIABLE)),
    Case("MatMul", ([[3e38]], [[9.0]]), np.matmul, "is what a loop carries from turn to turn.", "orthogonal",
         around=_made(Maker.STATE, Maker.VARIABLE)),
    *(Case(op, inputs, does, "; in0:0 is what a loop carries from turn to turn", "orthogonal",
           around=_made(Maker.STATE))
      for op, inputs, does in (
          ("MatMul", ([[1e38]], [[10.0]]), np.matmul), ("Square", ([1e30],), np.square),
          ("Mul", ([1e38], [10.0]), np.multiply), ("AddV2", ([BIG], [1e38]), np.add), ("Sum", ([BIG, BIG],), np.sum),
      )),
    Case("MatMul", ([[10.0]], [[1e38]]), np.matmul, "the sum of products exceeds 3.4e+38, the largest float32.",
         "Bring in1:0", around=_made(Maker.STATE, Maker.OTHER)),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "rows or segments that hold nothing", "row_lengths",
         around=_made(Maker.SEGMENTS, Maker.SEGMENTS)),
    Case("Log", ([0.0],), np.log, "Log of 0: in0:0 is 0", "Check what is fed", around=_made(Maker.DATA)),
    Case("Log", ([0.0],), np.log, "Log of 0: in0:0 of the targets (y) is 0", "of the loss swapped", around=TARGETS),
    Case("Log", ([-1.0],), np.log, "in0:0 of the targets (y) is negative", "swapped", around=TARGETS),
    Case("Log", ([-1.0],), np.log, "Log of a negative number", "Check what is fed", around=_made(Maker.DATA)),
    Case("Log", ([-1.0],), np.log, "Log of a negative number", "softplus", around=_made(Maker.OTHER)),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "Division by a norm of 0", "l2_normalize", around=_made(None,
         Maker.NORM)),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "a deviation of 0", "inside the root", around=_made(None,
         Maker.DEVIATION)),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "along the last axis, is 0", "LayerNormalization",
         around=Surroundings((None, Maker.DEVIATION), variance_of=VarianceOf.VECTOR)),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "a deviation of 0: in1:0 is 0", "keras.layers.Normalization",
         around=Surroundings((None, Maker.DEVIATION), variance_of=VarianceOf.FEATURE)),
    Case("Reciprocal", ([0.0],), np.reciprocal, "Gradient of acos at 1 or -1", "clip_by_value",
         around=Surroundings(slope_of="Acos")),
    Case("Sqrt", ([-1e-7],), np.sqrt, "The gradient of acos of a number beyond 1", "clip_by_value",
         around=Surroundings(slope_of="Acos")),
    Case("Reciprocal", ([0.0],), np.reciprocal, "Gradient of a logarithm at 0", "maximum",
         around=Surroundings(slope_of="Log")),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "Gradient of atan2 at (0, 0), where it has none: in1:0", "tf.where",
         around=Surroundings(slope_of="Atan2")),
    Case("RealDiv", ([1.0], [0.0]), np.divide, "Gradient of acosh at 1", "1 + 1e-7",
         around=Surroundings(slope_of="Acosh")),
    Case("Log", ([0.0],), np.log, "Log of 0: in0:0, a relu, is 0", "softplus", around=_made(Maker.RECTIFIED)),
    Case("Log", ([0.0],), np.log, "depends on the step alone", "step + 1", around=_made(Maker.COUNTER)),
    Case("RealDiv", ([1.0], [0.0]), np.divide, "in1:0, which depends on the step alone, is 0", "step + 1",
         around=_made(Maker.CONSTANT, Maker.COUNTER)),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "0 / 0", "divide_no_nan", around=_made(Maker.COUNTER, Maker.COUNTER)),
    Case("Reciprocal", ([0.0],), np.reciprocal, "depends on the step alone", "step + 1", around=_made(Maker.COUNTER)),
    Case("Rsqrt", ([0.0],), lambda x: 1 / np.sqrt(x), "in0:0, which depends on the step alone", "step + 1",
         around=_made(Maker.COUNTER)),
    Case("Pow", ([0.0], [-0.5]), np.power, "in0:0, which depends on the step alone, is 0", "step + 1",
         around=_made(Maker.COUNTER)),
    Case("Sqrt", ([-1.0],), np.sqrt, "a variance as E[x²]-E[x]²", "tf.nn.moments", around=_made(Maker.MOMENTS)),
    Case("Rsqrt", ([0.0],), lambda x: 1 / np.sqrt(x), "a variance, is 0", "1e-3", around=_made(Maker.VARIANCE)),
    Case("Rsqrt", ([0.0],), lambda x: 1 / np.sqrt(x), "the same in every row", "BatchNormalization",
         around=Surroundings((Maker.VARIANCE,), variance_of=VarianceOf.FEATURE)),
    Case("Rsqrt", ([0.0],), lambda x: 1 / np.sqrt(x), "features are all the same", "LayerNormalization",
         around=Surroundings((Maker.VARIANCE,), variance_of=VarianceOf.VECTOR)),
    Case("Rsqrt", ([0.0],), lambda x: 1 / np.sqrt(x), "a sum of squares", "l2_norm",
         around=_made(Maker.SQUARED_NORM)),
    Case("SqrtGrad", ([0.0], [1.0]), lambda y, dy: dy * 0.5 / y, "of a norm", "tf.square", around=_made(Maker.NORM)),
    Case("SqrtGrad", ([0.0], [1.0]), lambda y, dy: dy * 0.5 / y, "of a deviation", "reduce_variance",
         around=_made(Maker.DEVIATION)),
    Case("Pow", ([0.0], [-0.5]), np.power, "Gradient of a power below 1 at 0", "tf.maximum",
         around=Surroundings(slope_of="Pow")),
    Case("Pow", ([0.0], [-0.5]), np.power, "of the gradients of a power at 0", "tf.maximum",
         around=Surroundings(slope_of="Pow", slope_again=True)),
    Case("Pow", ([0.0], [-1.0]), np.power, "of the gradients of a whole power at 0", "x * x",
         around=Surroundings(slope_of="Pow")),
    Case("Mul", ([1e200], [1e200]), np.multiply, "; a constant of 1e+200 is in it", dtype=np.float64, around=WRITTEN),
    Case("Mul", ([1e20], [1e30]), np.multiply, "; a constant of 1e+30 is in it", "smaller constant", around=WRITTEN),
    Case("Pow", ([1e20], [1e30]), np.power, "a constant of 1e+30", "whether in0:0 is of", around=WRITTEN),
    Case("AddV2", ([BIG], [BIG]), np.add, "a constant of 3e+38", "smaller constant", around=WRITTEN),
    Case("MatMul", ([[1e20]], [[1e30]]), np.matmul, "a constant of 1e+30", "smaller constant", around=WRITTEN),
    Case("Sum", ([BIG, BIG],), np.sum, "a constant of 3e+38", "smaller constant", around=_made(Maker.CONSTANT)),
    Case("Mul", ([200.0], [600.0]), np.multiply, "largest float16", "Scale in1:0 down", np.float16,
         around=_made(Maker.CONSTANT, Maker.OTHER)),
    Case("Square", ([1e30],), np.square, "; w has grown to 3e+19", "learning rate", around=GREW),
    Case("Mul", ([1e30], [1e30]), np.multiply, "w has grown", "global_clipnorm", around=GREW),
    Case("Mul", ([300.0], [300.0]), np.multiply, "largest float16", "float32", np.float16),
    Case("AddV2", ([BIG], [BIG]), np.add, "w has grown", "global_clipnorm", around=GREW),
    Case("AddV2", ([6e4], [6e4]), np.add, "largest float16", "float32", np.float16),
    Case("MatMul", ([[1e30, 1.0]], [[1e30], [1.0]]), np.matmul, "w has grown", around=GREW),
    Case("MatMul", ([[300.0]], [[300.0]]), np.matmul, "largest float16", "lower the learning rate", np.float16),
    Case("Sum", ([BIG, BIG],), np.sum, "w has grown", "Lower the learning rate", around=GREW),
    Case("Square", ([1e30],), np.square, "; w has grown to 3e+19", "is not trained", around=WAS_WRITTEN),
    Case("Mul", ([1e30], [1e30]), np.multiply, "w has grown", "look at what is written", around=WAS_WRITTEN),
    Case("AddV2", ([BIG], [BIG]), np.add, "w has grown", "is not trained", around=WAS_WRITTEN),
    Case("MatMul", ([[1e30, 1.0]], [[1e30], [1.0]]), np.matmul, "w has grown", "is not trained", around=WAS_WRITTEN),
    Case("Sum", ([BIG, BIG],), np.sum, "w has grown", "is not trained", around=WAS_WRITTEN),
    Case("Mul", ([0.0], [INF]), np.multiply, "a mask made by a product", "tf.where", around=_made(None, Maker.MASK)),
    Case("Mul", ([INF], [0.0]), np.multiply, "a mask made by a product", "tf.where", around=_made(Maker.MASK)),
    Case("Sub", ([-INF], [-INF]), np.subtract, "by a mask", "-1e9", around=_made(Maker.MASK)),
    Case("Sub", ([[0.0, -INF]], [[0.0, -INF]]), np.subtract, "by masks", "-1e9 instead of -inf.",
         around=_made(Maker.MASK)),
    Case("Sub", ([[-INF, -INF]], [[-INF]]), np.subtract, "by a mask", "leave one element of each row open",
         around=_made(Maker.MASK)),
    Case("Softmax", ([[INF, 1.0]],), lambda x: _f([[NAN, NAN]]), "holds NaN or +inf"),
    Case("Log", ([0.0],), np.log, "Log of 0: in0:0 is 0", "tf.maximum", around=_made(Maker.OTHER)),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "Division by 0 in the optimizer", "1e-4", np.float16,
         node="adam/truediv"),
    Case("UpdatedVariable", ([6e4], [-2e4]), np.subtract, "The update itself overflows: n and its step are finite",
         "global_clipnorm", np.float16),
    Case("AssignAdd", ([3e38], [3e38]), np.add, "The update itself overflows: in0:0 and its step are finite",
         "learning rate"),
    Case("UpdatedVariable", ([1.0], [0.0]), lambda a, b: _f([NAN]), "0 / 0 within the update: n is NaN", "epsilon"),
    Case("UpdatedVariable", ([1.0], [0.9], [0.0], [1.0]), lambda *a: _f([NAN], np.float16), "epsilon is 0 in float16",
         "1e-4", np.float16, names=("w", "beta1", "Adam/epsilon", "gradient")),
    # What a blind test by generated programs found to be told of something else.
    Case("RealDiv", ([1.0], [0.0]), np.divide, "that of each row, is 0", "tf.image.per_image_standardization",
         around=Surroundings((None, Maker.DEVIATION), variance_of=VarianceOf.ROW)),
    Case("RealDiv", ([0.0, 1.0], [0.0, 0.5]), np.divide, "segments that hold nothing, or nothing but 0",
         "look why their weights are 0", around=_made(Maker.SEGMENTS, Maker.SEGMENTS)),
    Case("RealDiv", ([0.0], [0.0]), np.divide, "0 / 0: in0:0 and in1:0", "tf.math.log(tf.maximum(x, 1e-7)) -",
         around=Surroundings(logged=True)),
    Case("RealDiv", ([1.0], [0.0]), np.divide, "Division by 0: in1:0 is 0", "tf.math.log(tf.maximum(x, 1e-7)) -",
         around=Surroundings(logged=True)),
    Case("RealDiv", ([1.0], [0.0]), np.divide, "Division by 0", "eps such as 1e-2 to", np.float16),
    Case("Reciprocal", ([0.0],), np.reciprocal, "the reciprocal of in0:0", "Keep its argument away from 0",
         around=Surroundings(gradient=True)),
    Case("Reciprocal", ([0.0],), np.reciprocal, "the reciprocal of in0:0", "tf.math.divide_no_nan(1.0, x)"),
    Case("Cosh", ([200.0],), np.cosh, "Gradient of sinh: overflow of Cosh", "clip_by_value",
         around=Surroundings(slope_of="Sinh", gradient=True)),
    Case("Rsqrt", ([0.0],), lambda x: 1 / np.sqrt(x), "a mean of squares, is 0", "RMSNormalization",
         around=_made(Maker.MEAN_SQUARE)),
    Case("Max", ([[1.0, -INF], [-INF, -INF]],), lambda x: x.max(axis=1), "nothing but -inf: in0:0 is closed",
         "tf.reduce_any(kept, axis)"),
    Case("UpdatedVariable", ([1.0], [0.9], [0.0], [1.0]), lambda *a: _f([NAN]), "optimizer: its epsilon is 0.",
         "an epsilon above 0", names=("w", "beta1", "Adam/epsilon", "gradient")),
]  # fmt: skip


def _evidence(case: Case, value: Array, inputs: list[Array]) -> Evidence:
    node = Node(case.node, case.op, "", attributes=case.attributes)
    names = case.names or tuple(f"in{i}" for i in range(len(inputs)))
    seen = [InputSeen(TensorName(names[i], 0), None, i, None, array) for i, array in enumerate(inputs)]
    return gather(node, value, ~np.isfinite(value), seen, case.around)


def _computed(case: Case) -> tuple[Array, list[Array]]:
    inputs = [x if isinstance(x, np.ndarray) else _f(x, case.dtype) for x in case.inputs]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(case.does(*inputs)), inputs


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.cause[:24]}")
def test_cause(case: Case) -> None:
    value, inputs = _computed(case)
    assert not np.isfinite(value).all(), "the case must go wrong"
    found = explain(_evidence(case, value, inputs))
    assert found is not None
    assert case.cause in found.text
    assert case.suggestion in found.suggestion
    assert "{" not in found.text + found.suggestion


def test_loss_scaling_is_not_advised_where_no_gradient_overflows() -> None:
    """A blind test: of a sum in the forward pass LossScaleOptimizer was named, and mended nothing."""
    case = Case("MatMul", ([[300.0]], [[300.0]]), np.matmul, "", dtype=np.float16)
    for scaled in (False, True):
        found = explain(_evidence(replace(case, around=Surroundings(scaled=scaled)), *_computed(case)))
        assert found is not None and "LossScaleOptimizer" not in found.suggestion
        assert "Loss scaling does not help here" in found.suggestion and "learning rate" in found.suggestion


@pytest.mark.parametrize(("asked", "scaled"), [("gradient_tape/MatMul", True), ("dense/MatMul", False)])
def test_who_asks_whether_gradients_are_finite_scales_the_loss(asked: str, scaled: bool) -> None:
    nodes = [Node(asked, "MatMul", ""), Node("IsFinite", "IsFinite", "", inputs=(TensorName(asked, 0),))]
    assert asks_of_gradients([Graph(nodes)]) is scaled


@pytest.mark.parametrize(
    ("file", "kind", "scaled"),
    [
        ("/lib/keras/src/optimizers/loss_scale_optimizer.py", RunKind.EAGER, True),
        ("/lib/keras/src/optimizers/sgd.py", RunKind.EAGER, False),
    ],
)
def test_eager_code_that_scales_the_loss_is_told_by_the_calls_of_its_optimizer(
    file: str, kind: RunKind, scaled: bool
) -> None:
    """A blind test: a program was told to use LossScaleOptimizer, which it did use."""
    run = made_run(op("x", "Placeholder", value=[1.0]), op("scaled", "Mul", "x", "x", value=[1.0]))
    frames = (Frame("train.py", 12, "<module>"), Frame(file, 190, "scale_loss"))
    run = replace(run, call=replace(run.call, kind=kind), tracebacks={"scaled": frames})
    assert scales_loss(run) is scaled


def _reaches(case: Case, rule: Reason) -> bool:
    if case.op not in rule.ops:
        return False
    with np.errstate(all="ignore"):
        held = rule.holds(_evidence(case, *_computed(case)))
    return held is not None and bool(held.any())


def test_every_rule_is_reached_by_a_case() -> None:
    unreached = [rule.cause for rule in REASONS if not any(_reaches(case, rule) for case in CASES)]
    assert not unreached


def test_the_cause_of_most_elements_comes_first() -> None:
    case = Case("Log", ([0.0, 0.0, -1.0],), np.log, "")
    value, inputs = _computed(case)
    found = explain(_evidence(case, value, inputs))
    assert found is not None
    assert (
        found.text == "Log of 0: in0:0 is 0 at 2 elements; log of a negative number: in0:0 is negative at 1 element."
    )


def test_elements_of_an_input_that_is_broadcast_are_counted_once() -> None:
    case = Case("RealDiv", (np.zeros((4, 6, 3), np.float32) + 1, _f([[[0, 1, 0]]])), np.divide, "")
    found = explain(_evidence(case, *_computed(case)))
    assert found is not None and found.text == "Division by 0: in1:0 is 0 at 2 elements."
    case = Case("RealDiv", (np.ones((4, 6), np.float32), _f(0.0)), np.divide, "")
    found = explain(_evidence(case, *_computed(case)))
    assert found is not None and found.text == "Division by 0: in1:0 is 0 at 1 element."
    case = Case("RealDiv", (np.zeros((4, 6), np.float32), _f(0.0)), np.divide, "")
    found = explain(_evidence(case, *_computed(case)))
    assert found is not None and found.text == "0 / 0: in0:0 and in1:0 are both 0 at 24 elements."


@pytest.mark.parametrize(("bad", "said"), [(10_000, "10,000 elements."), (10_001, "10,000 elements or more.")])
def test_a_count_that_broke_off_is_no_total(bad: int, said: str) -> None:
    case = Case("Log", (np.zeros(bad, np.float32),), np.log, "")
    found = explain(_evidence(case, *_computed(case)))
    assert found is not None and found.text == f"Log of 0: in0:0 is 0 at {said}"


def test_no_rule_fires_where_an_input_was_not_seen() -> None:
    node = Node("n", "Mul", "")
    seen = [InputSeen(TensorName("a", 0), None, 0, None, _f([1.0])), InputSeen(TensorName("b", 0), None)]
    assert explain(gather(node, _f([INF]), np.array([True]), seen)) is None


def test_names_with_braces_stay_as_they_are() -> None:
    node = Node("n", "Log", "")
    seen = [InputSeen(TensorName("{b}{x}", 0), None, 0, None, _f([0.0]))]
    found = explain(gather(node, _f([-INF]), np.array([True]), seen))
    assert found is not None and "{b}{x}:0 is 0" in found.text


def test_a_fed_input_is_called_what_it_was_fed_as() -> None:
    """The runtime's graph calls the feed `x:0` `_arg_x_0_3:0`; nobody knows it by that name."""
    argument = Node("_arg_x_0_3", "_Arg", "")
    seen = [InputSeen(TensorName("_arg_x_0_3", 0), argument, 0, None, _f([0.0]))]
    found = explain(gather(Node("n", "Log", ""), _f([-INF]), np.array([True]), seen))
    assert found is not None and found.text == "Log of 0: x:0 is 0 at 1 element."
    assert found.suggestion.startswith("Check what is fed as x:0")


def test_a_result_that_a_where_hides_asks_for_two_of_them() -> None:
    around = Surroundings((Maker.OTHER,), "Log", "SelectV2")
    seen = [InputSeen(TensorName("x", 0), None, 0, None, _f([0.0]))]
    found = explain(gather(Node("n", "Reciprocal", ""), _f([INF]), np.array([True]), seen, around))
    assert found is not None and "SelectV2, a tf.where, hides it from the result" in found.text
    assert "double where" in found.suggestion


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "bfloat16", "float16"])
def test_the_limit_of_the_dtype_is_named(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    seen = [InputSeen(TensorName(text, 0), None, 0, None, np.full(1, 2, dtype)) for text in "ab"]
    largest = float(ml_dtypes.finfo(dtype).max)
    found = explain(
        gather(Node("n", "Mul", ""), np.full(1, INF).astype(dtype), np.array([True]), seen)
    )  # NaN in e4m3fn
    assert found is not None and f"exceeds {largest:.3g}, the largest {name}" in found.text


@pytest.mark.parametrize("equal", [True, False], ids=["equal", "unequal"])
def test_labels_that_fit_their_steps_are_not_blamed(equal: bool) -> None:
    """Two labels take two steps, and three when they are equal, since a blank stands between them."""
    arrays = [np.zeros((2, 1, 6), np.float32), np.array([[0, 0], [0, 1]]), np.array([1, 1 if equal else 2])]
    case = Case("CTCLoss", (*arrays, np.array([2])), lambda *a: _f([INF]), "")
    assert (explain(_evidence(case, *_computed(case))) is not None) is equal


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float64", "float8_e5m2", "complex64", "int32"])
def test_numbers_of_suggestions_are_held_by_the_dtype(name: str) -> None:
    words = {word: float(text) for word, text in safe_numbers(name).items()}
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    dtype = np.dtype(np.float32) if dtype.kind == "i" else np.empty(0, dtype).real.dtype
    largest = float(ml_dtypes.finfo(dtype).max)
    held = {word: float(dtype.type(value)) for word, value in words.items()}
    assert 1 / held["small"] < largest and 1 / held["steep"] ** 2 < largest and held["tiny"] > 0
    assert float(dtype.type(1 - words["step"])) < 1
    assert -largest < held["masked"] <= -1000 or name.startswith("float8")


def test_small_numbers_do_not_overflow() -> None:
    """NaN that arithmetic does not explain, such as by a fault of the machine, is not called an overflow."""
    seen = [InputSeen(TensorName(text, 0), None, 0, None, np.ones((3, 3), np.float32)) for text in "ab"]
    value = np.full((3, 3), NAN, np.float32)
    for op_type in ("MatMul", "Sum", "Einsum", "Conv2D"):
        assert explain(gather(Node("n", op_type, ""), value, np.isnan(value), seen)) is None
