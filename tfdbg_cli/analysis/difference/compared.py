"""Two tensors beside each other, and what is to be said of each pair: the same, rounded, grown, or different."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tfdbg_cli.analysis.difference.errors import (
    Errors,
    became_nonfinite,
    largest,
    measured,
    zeros_apart,
)
from tfdbg_cli.analysis.difference.rounding import ErrorFlow
from tfdbg_cli.analysis.difference.tolerance import Tolerance, precision_of
from tfdbg_cli.analysis.pairing.tensor_pairs import RowPair
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array, NoValue


class TensorFate(StrEnum):
    """What became of a tensor in the second run."""

    EQUAL = "equal"  # to the last bit, but for the sign of zeros
    ROUNDED = "rounded"  # within the tolerance
    GROWN = "grown"  # beyond it, as rounding of its inputs, or its own, explains
    NEW = "new"  # different, though its inputs are not: a divergence
    FOLLOWS = "follows"  # different, as its inputs are
    OTHER_WAY = "other way"  # different on the way to what is the same: both compute it in their own way
    OWN_DATA = "own data"  # different by nature, as each of two workers was given something else
    UNKNOWN = "unknown"  # one of both has no value


class TensorChange(StrEnum):
    """In which way two tensors differ, where it is not by numbers alone."""

    VALUES = "values"
    BECAME_FINITE = "became finite"
    BECAME_NONFINITE = "became non-finite"
    SHAPE = "shape"
    DTYPE = "dtype"


DIFFERENT = frozenset({TensorFate.NEW, TensorFate.FOLLOWS})


@dataclass(frozen=True, slots=True)
class Gap:
    """What lies between two values: `errors` where they have one shape. `coarser` says that their types differ.

    Of what is equal `zeros` elements are 0 in one and -0 in the other.
    """

    change: TensorChange
    errors: Errors
    coarser: bool = False
    zeros: int = 0

    @property
    def apart(self) -> bool:
        """Whether it is more than the tolerance."""
        return self.change in {TensorChange.SHAPE, TensorChange.DTYPE} or self.errors.beyond > 0

    @property
    def exact(self) -> bool:
        """Whether there is nothing between them."""
        return not self.apart and not self.errors.unequal


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said of a pair of tensors. `growth` is its relative error over the largest of its inputs'."""

    rows: RowPair
    state: TensorFate
    gap: Gap | None
    growth: float = 0.0


def gap_between(stores: tuple[TensorStore, TensorStore], rows: tuple[int, int], tolerance: Tolerance) -> Gap | None:
    """What lies between two tensors; None where one has no value. Both are read, and kept by nobody."""
    first, second = (store.value(row) for store, row in zip(stores, rows, strict=True))
    if isinstance(first, NoValue) or isinstance(second, NoValue):
        return None
    return gap_of_values(first, second, tolerance)


def gap_of_values(first: Array, second: Array, tolerance: Tolerance) -> Gap:
    """What lies between two values."""
    if first.shape != second.shape:
        return Gap(TensorChange.SHAPE, Errors(first.size))
    if first.dtype.hasobject != second.dtype.hasobject:
        return Gap(TensorChange.DTYPE, Errors(first.size))
    if not first.dtype.hasobject and same_bits(first, second):  # most have, and no error need be measured
        return Gap(TensorChange.VALUES, Errors(first.size))
    errors = measured(first, second, tolerance)
    became = became_nonfinite(first, second) if errors.nonfinite else None
    change = (
        TensorChange.VALUES
        if became is None
        else TensorChange.BECAME_NONFINITE
        if became
        else TensorChange.BECAME_FINITE
    )
    zeros = 0 if errors.unequal else zeros_apart(first, second)
    return Gap(change, errors, first.dtype != second.dtype, zeros)


def flow_between(stores: tuple[TensorStore, TensorStore], rows: tuple[int, int], gap: Gap | None) -> ErrorFlow | None:
    """The two tensors as something that flows into an op; None where nothing is known of them."""
    first, second = (store.value(row) for store, row in zip(stores, rows, strict=True))
    if gap is None or isinstance(first, NoValue) or isinstance(second, NoValue):
        return None
    precision = precision_of(first.dtype, second.dtype)
    sizes = _mean_and_least(first), _mean_and_least(second)
    mean, least = max(one for one, _ in sizes), min((two for _, two in sizes if two), default=0.0)
    error = gap.errors.max_abs if not gap.errors.nonfinite else float("inf")
    eps = 0.0 if precision is None else precision.eps
    return ErrorFlow(first.size, error, max(largest(first), largest(second)), mean, least, eps, gap.exact)


def _mean_and_least(array: Array) -> tuple[float, float]:
    """The mean magnitude and the smallest one that is not 0, of what is finite."""
    if array.dtype.hasobject or array.dtype.kind in "SU" or not array.size:
        return 0.0, 0.0
    with np.errstate(all="ignore"):
        magnitudes = np.abs(array if array.dtype.kind in "cfiu" else array.astype(np.float64))
        facts = summarize(magnitudes)
        positive = magnitudes[(magnitudes > 0) & np.isfinite(magnitudes)]
    return facts.mean or 0.0, float(positive.min()) if positive.size else 0.0
