"""Questions of what takes part in training: gradients, units of a ReLU, variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.watch.filter import Filter
from tfdbg_cli.analysis.watch.training_filters import has_dead_units, is_dead, norm_of
from tfdbg_cli.capture.questions.question import Covering, Question, element_count
from tfdbg_cli.capture.questions.recipe import ASKED, BEFORE, AnswerRecipe, kind
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import RELUS
from tfdbg_cli.ops.transparency import CHECKABLE
from tfdbg_cli.ops.transparent_shapes import Shape

# The squares are added up in float64 in no fixed order: a norm this near to the limit, as a share of it, is unsure.
_ROUNDING = 1e-6
_SMALLEST = 1e-300
_INTEGERS = {
    "float16": "int16", "bfloat16": "int16", "float32": "int32", "float64": "int64", "complex64": "int64",
    "complex128": "int64",
}  # fmt: skip
_PARTS = frozenset({"complex64", "complex128"})
_COMPARED = frozenset({
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", *_INTEGERS,
})  # fmt: skip


@dataclass(frozen=True)
class GradientNorm(Question):
    """Whether the L2 norm of a gradient exceeds `limit` or is not finite; unless `above`, whether it does neither."""

    width: int = 2
    unsure: tuple[int, ...] = (1,)
    limit: float = 0.0
    above: bool = False

    def concerns(self, op_type: str, dtype: str, shape: Shape) -> bool:
        return dtype in CHECKABLE and element_count(shape) != 0

    def answer(self, dtype: str, shape: Shape, recipe: AnswerRecipe) -> None:
        wide = [
            value if real == "float64" else recipe.cast(value, real, "float64")
            for value, real in recipe.reals(ASKED, dtype)
        ]
        rows = [recipe.row(value, "float64") for value in wide]
        # The squares of float32 numbers are float64 numbers; those of float64 numbers can be beyond.
        scaled = dtype in ("float64", "complex128")
        scale = self._scale(rows, recipe) if scaled else None
        squares = [self._square(row, scale, recipe) for row in rows]
        total = squares[0] if len(squares) == 1 else recipe.op("AddV2", *squares, T=kind("float64"))
        norm = recipe.op("Sqrt", total, T=kind("float64"))
        if scale is not None:
            norm = recipe.op("Mul", norm, scale, T=kind("float64"))
        limits = recipe.constant(self._limits(), "float64")
        # NaN is never at most a limit.
        small = recipe.counted(recipe.op("LessEqual", norm, limits, T=kind("float64")))
        if self.above:
            recipe.contrary(small)
        else:
            recipe.unless_empty(small, ASKED, dtype, element_count(shape))

    def asked_of(self, array: Array) -> bool:
        norm = None if array is None else norm_of(array)
        return array is None or (norm is not None and (not norm <= self.limit if self.above else norm <= self.limit))

    def _limits(self) -> list[float]:
        """The limit beyond which the norm certainly passes, and the one beyond which it may pass."""
        below, beyond = self.limit * (1 - _ROUNDING), self.limit * (1 + _ROUNDING)
        return [beyond, below] if self.above else [below, beyond]

    def _scale(self, rows: list[int], recipe: AnswerRecipe) -> int:
        """The largest magnitude in `rows`, but not zero."""
        real = kind("float64")
        largest = [recipe.reduced("Max", recipe.op("Abs", row, T=real), "float64") for row in rows]
        found = largest[0] if len(largest) == 1 else recipe.op("Maximum", *largest, T=real)
        return recipe.op("Maximum", found, recipe.constant(_SMALLEST, "float64"), T=real)

    def _square(self, row: int, scale: int | None, recipe: AnswerRecipe) -> int:
        real = kind("float64")
        terms = row if scale is None else recipe.op("RealDiv", row, scale, T=real)
        return recipe.reduced("Sum", recipe.op("Square", terms, T=real), "float64")


@dataclass(frozen=True)
class DeadUnits(Question):
    """Whether a share of the units of a ReLU, its last axis, are above zero for no row."""

    share: float = 0.9

    def concerns(self, op_type: str, dtype: str, shape: Shape) -> bool:
        return dtype in CHECKABLE and op_type in RELUS and shape != () and element_count(shape) != 0

    def askable(self, dtype: str, shape: Shape) -> bool:
        return shape is not None and shape[-1] is not None

    def answer(self, dtype: str, shape: Shape, recipe: AnswerRecipe) -> None:
        assert shape is not None
        units = shape[-1]
        assert units is not None
        ((value, real),) = recipe.reals(ASKED, dtype)
        above = recipe.op("Greater", value, recipe.constant(0, real), T=kind(real))
        rows = recipe.constant(np.array([-1, units]), "int32")
        table = recipe.op("Reshape", above, rows, T=kind("bool"), Tshape=kind("int32"))
        alive = recipe.cast(recipe.reduced("Any", table, None, keep=False), "bool", "int32")
        count = recipe.reduced("Sum", alive, "int32")
        dead = recipe.op("LessEqual", count, recipe.constant(self._most(units), "int32"), T=kind("int32"))
        recipe.unless_empty(recipe.counted(dead), ASKED, dtype, element_count(shape))

    def asked_of(self, array: Array) -> bool:
        return array is None or has_dead_units(array, self.share)

    def _most(self, units: int) -> int:
        """The largest number of living units with which a ReLU passes; -1 when none does."""
        passing = (alive for alive in range(units, -1, -1) if is_dead(alive / units, self.share))
        return next(passing, -1)


@dataclass(frozen=True)
class Unchanged(Question):
    """Whether a variable is the same, bit for bit, before and after its update."""

    def concerns(self, op_type: str, dtype: str, shape: Shape) -> bool:
        return op_type == UPDATED_VARIABLE

    def askable(self, dtype: str, shape: Shape) -> bool:
        return dtype in _COMPARED

    def answer(self, dtype: str, shape: Shape, recipe: AnswerRecipe) -> None:
        different = [_different(_shape(ASKED, dtype, recipe), _shape(BEFORE, dtype, recipe), "int32", recipe)]
        if dtype in _PARTS and recipe.compiled:
            for (after, real), (before, _) in zip(
                recipe.reals(ASKED, dtype), recipe.reals(BEFORE, dtype), strict=True
            ):
                different.append(_different(_bits(after, real, recipe), _bits(before, real, recipe), real, recipe))
        else:
            bits = (_bits(ASKED, dtype, recipe), _bits(BEFORE, dtype, recipe))
            different.append(_different(*bits, dtype, recipe))
        either = different[0]
        for other in different[1:]:
            either = recipe.op("LogicalOr", either, other)
        same = recipe.contrary(recipe.counted(either))
        recipe.unless_empty(same, ASKED, dtype, element_count(shape))


def _bits(value: int, dtype: str, recipe: AnswerRecipe) -> int:
    """The elements as integers, so that a NaN is equal to itself."""
    if dtype not in _INTEGERS:
        return value
    return recipe.op("Bitcast", value, T=kind(dtype), type=kind(_INTEGERS[dtype]))


def _different(one: int, other: int, dtype: str, recipe: AnswerRecipe) -> int:
    integer = kind(_INTEGERS.get(dtype, dtype))
    return recipe.any(recipe.op("NotEqual", one, other, T=integer, incompatible_shape_error=False))


def _shape(value: int, dtype: str, recipe: AnswerRecipe) -> int:
    return recipe.op("Shape", value, T=kind(dtype), out_type=kind("int32"))


OF_TRAINING: Mapping[str, Callable[[Filter], Question]] = {
    "unchanged_variable": lambda asked: Unchanged(asked, Covering.NOTHING),
    "vanishing_gradient": lambda asked: GradientNorm(asked, Covering.NOTHING, limit=asked.number),
    "exploding_gradient": lambda asked: GradientNorm(asked, Covering.NOTHING, limit=asked.number, above=True),
    "dead_relu": lambda asked: DeadUnits(asked, Covering.NOTHING, share=asked.number),
}
"""The questions of this file, by the names of the filters that they ask the same as."""
