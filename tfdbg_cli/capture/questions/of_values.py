"""Questions of the elements of any tensor: NaN, infinities, zeros, magnitudes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tfdbg_cli.analysis.watch.filter import Filter, TensorFilter
from tfdbg_cli.analysis.watch.filters import has_inf_or_nan
from tfdbg_cli.capture.questions.question import Covering, Question, element_count
from tfdbg_cli.capture.questions.recipe import ASKED, AnswerRecipe, kind
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.element_bounds import AT_MOST_TWO
from tfdbg_cli.ops.transparency import CHECKABLE
from tfdbg_cli.ops.transparent_shapes import Shape


@dataclass(frozen=True)
class NonFinite(Question):
    """Whether there is a NaN or an infinity.

    `mode` is the `tensor_debug_mode` (core/protobuf/debug_event.proto) in which DebugNumericSummaryV2 counts in one
    pass over the values: CURT_HEALTH gives (id, whether any), CONCISE_HEALTH (id, elements, -inf, +inf, NaN). XLA
    does not know that op: there the elementwise op `op` is used, with its result `negated` if it tells the contrary.
    `holds` is asked of a value instead of the filter, where the filter also needs to know the tensor.
    """

    by_shape: bool = False
    mode: int = 2
    op: str = "IsFinite"
    negated: bool = False
    holds: TensorFilter | None = None

    def asked_of(self, array: Array) -> bool:
        return array is None or bool((self.holds or self.asked)(None, array))

    def answer(self, dtype: str, shape: Shape, recipe: AnswerRecipe) -> None:
        answers = [self._of_reals(value, real, recipe) for value, real in recipe.reals(ASKED, dtype)]
        if len(answers) > 1:
            recipe.op("AddV2", *answers, T=kind("float32"))

    def _of_reals(self, value: int, dtype: str, recipe: AnswerRecipe) -> int:
        if not recipe.compiled:
            types = {"T": kind(dtype), "output_dtype": kind("float32")}
            return recipe.op("DebugNumericSummaryV2", value, tensor_debug_mode=self.mode, tensor_id=0, **types)
        recipe.whole = False
        told = recipe.op(self.op, value, T=kind(dtype))
        if not self.negated:
            return recipe.counted(recipe.any(told))
        return recipe.contrary(recipe.counted(recipe.reduced("All", recipe.row(told, "bool"), None)))


@dataclass(frozen=True)
class AllZero(Question):
    """Whether all elements are zero. Asked of the bits: TensorFlow's kernels take denormal numbers for zeros."""

    def concerns(self, op_type: str, dtype: str, shape: Shape) -> bool:
        return dtype in CHECKABLE and op_type != "Const" and element_count(shape) != 0

    def asked_of(self, array: Array) -> bool:
        return array is None or bool(self.asked(None, array))

    def answer(self, dtype: str, shape: Shape, recipe: AnswerRecipe) -> None:
        found = [self._not_zero(value, real, recipe) for value, real in recipe.reals(ASKED, dtype)]
        some = found[0] if len(found) == 1 else recipe.op("LogicalOr", *found)
        all_zero = recipe.contrary(recipe.counted(some))
        recipe.unless_empty(all_zero, ASKED, dtype, element_count(shape))

    def _not_zero(self, value: int, dtype: str, recipe: AnswerRecipe) -> int:
        bits, integer = recipe.bits(value, dtype)
        but_sign = recipe.constant(np.iinfo(integer).max, integer)
        kept = recipe.op("BitwiseAnd", bits, but_sign, T=kind(integer))
        zero = recipe.constant(0, integer)
        return recipe.any(recipe.op("NotEqual", kept, zero, T=kind(integer), incompatible_shape_error=True))


@dataclass(frozen=True)
class Large(Question):
    """Whether an element is beyond a limit, either way; `share` of the largest number of the dtype, or `limit`."""

    limit: float | None = None
    share: float = 0.0

    def concerns(self, op_type: str, dtype: str, shape: Shape) -> bool:
        if dtype not in CHECKABLE or element_count(shape) == 0:
            return False
        return op_type not in AT_MOST_TWO or self._bound(dtype) < 2

    def asked_of(self, array: Array) -> bool:
        return array is None or bool(self.asked(None, array))

    def _bound(self, dtype: str) -> float:
        """The number of the element type that passing magnitudes are above."""
        wide = kind(dtype).numpy
        assert wide is not None
        narrow = np.empty(0, wide).real.dtype
        if self.limit is not None:
            return _largest(narrow, self.limit, including=True)
        most = float(ml_dtypes.finfo(narrow).max)  # type: ignore[no-untyped-call]
        return _largest(narrow, self.share * most, including=False)

    def answer(self, dtype: str, shape: Shape, recipe: AnswerRecipe) -> None:
        bound = self._bound(dtype)
        found = [self._beyond(value, real, bound, recipe) for value, real in recipe.reals(ASKED, dtype)]
        recipe.counted(found[0] if len(found) == 1 else recipe.op("LogicalOr", *found))

    def _beyond(self, value: int, dtype: str, bound: float, recipe: AnswerRecipe) -> int:
        magnitude = recipe.op("Abs", value, T=kind(dtype))
        return recipe.any(recipe.op("Greater", magnitude, recipe.constant(bound, dtype), T=kind(dtype)))


def _largest(dtype: np.dtype[Any], limit: float, *, including: bool) -> float:
    """The largest number of `dtype` up to `limit`, or below it."""
    with np.errstate(over="ignore"):
        found = np.asarray(limit).astype(dtype)
    if not np.isfinite(found) and limit != np.inf:
        found = np.asarray(ml_dtypes.finfo(dtype).max, dtype)  # type: ignore[no-untyped-call]
    while float(found) > limit or (float(found) == limit and not including):
        found = np.nextafter(found, dtype.type(0))
    return float(found)


OF_VALUES: Mapping[str, Callable[[Filter], Question]] = {
    "bad_result": lambda asked: NonFinite(asked, Covering.READERS, 2, (1,), negated=True, holds=has_inf_or_nan),
    "has_inf_or_nan": lambda asked: NonFinite(asked, Covering.READERS, 2, (1,), negated=True),
    "has_nan": lambda asked: NonFinite(asked, Covering.READERS, 5, (4,), mode=3, op="IsNan"),
    "has_inf": lambda asked: NonFinite(asked, Covering.READERS_KEEPING, 5, (2, 3), mode=3, op="IsInf"),
    "all_zero": lambda asked: AllZero(asked, Covering.COPIES),
    "magnitude_above": lambda asked: Large(asked, Covering.BOUNDS, limit=asked.number),
    "near_overflow": lambda asked: Large(asked, Covering.BOUNDS, share=asked.number),
}
"""The questions of this file, by the names of the filters that they ask the same as."""
