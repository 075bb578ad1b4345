"""How far two arrays lie apart: absolute, relative, and in steps (ULP) of the coarser element type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.difference.tolerance import Precision, Tolerance, precision_of
from tfdbg_cli.model.dtypes import in_double, is_inexact
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array

_CHUNK = 1 << 20  # elements compared at a time, so that large tensors need little memory beside them


@dataclass(frozen=True, slots=True)
class Errors:
    """How two arrays of `size` elements differ. A NaN equals a NaN at the same place, an infinity one of its sign.

    `unequal` elements are not the same to the last bit, but for the sign of a zero (`zeros_apart` counts those),
    `beyond` of them lie further apart than the tolerance. The largest errors are over the elements that are finite in
    both; relative is to the larger of both, `max_ulp` is None where nothing is counted in steps (integers, texts).
    `scale` is the largest finite magnitude in either. `nonfinite` counts the elements that are finite in one only, or
    NaN, or an infinity of the other sign.
    """

    size: int
    unequal: int = 0
    beyond: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0
    max_ulp: float | None = None
    scale: float = 0.0
    nonfinite: int = 0

    @property
    def relative(self) -> float:
        """The largest error beside the largest element: small elements, which are often what is left of others,
        do not count for more than they are.
        """
        return self.max_abs / self.scale if self.scale else float(self.max_abs > 0)


def measured(first: Array, second: Array, tolerance: Tolerance) -> Errors:
    """The errors of two arrays of one shape. Numbers of different types are compared as numbers."""
    if not any(_differs(one, two).any() for one, two in _chunks(first, second)):
        return Errors(first.size)
    if not (_is_number(first) and _is_number(second)):
        count = sum(int(np.count_nonzero(_differs(one, two))) for one, two in _chunks(first, second))
        return Errors(first.size, count, count)
    precision = precision_of(first.dtype, second.dtype)
    scale = max(largest(first), largest(second))
    rtol, atol = tolerance.rtol or 0.0, tolerance.atol or 0.0
    if precision is not None:
        rtol = tolerance.relative(precision.eps, precision.itemsize)
        atol = tolerance.absolute(precision.eps, precision.itemsize, scale)
    parts = [_of_chunk(one, two, rtol, atol, precision) for one, two in _chunks(first, second)]
    steps = None if precision is None else max(part.max_ulp or 0.0 for part in parts)
    return Errors(
        first.size,
        sum(part.unequal for part in parts),
        sum(part.beyond for part in parts),
        max(part.max_abs for part in parts),
        max(part.max_rel for part in parts),
        steps,
        scale,
        sum(part.nonfinite for part in parts),
    )


def joined(parts: Sequence[Errors]) -> Errors:
    """The errors of arrays of which `parts` are those of a part each."""
    return Errors(
        sum(part.size for part in parts),
        sum(part.unequal for part in parts),
        sum(part.beyond for part in parts),
        max((part.max_abs for part in parts), default=0.0),
        max((part.max_rel for part in parts), default=0.0),
        max((part.max_ulp for part in parts if part.max_ulp is not None), default=None),
        max((part.scale for part in parts), default=0.0),
        sum(part.nonfinite for part in parts),
    )


def zeros_apart(first: Array, second: Array) -> int:
    """How many elements of two arrays of one shape are zeros of which one has a sign and the other one has none.

    Zeros of different types are the same.
    """
    if first.dtype != second.dtype or not is_inexact(first.dtype):
        return 0
    count = 0
    for one, two in _chunks(first, second):
        if one.tobytes() == two.tobytes():  # most are, and this is fast
            continue
        unlike = _bits(one) != _bits(two)
        if unlike.any():
            with np.errstate(all="ignore"):
                count += int(np.count_nonzero(unlike.any(axis=-1) & (one == two)))
    return count


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8).reshape(array.size, array.dtype.itemsize)


def largest(array: Array) -> float:
    """The largest finite magnitude; 0 where there is none, or nothing is a number."""
    if not _is_number(array):
        return 0.0
    found = 0.0
    for one, _ in _chunks(array, array):
        magnitudes = np.abs(_widened(one))
        finite = magnitudes[np.isfinite(magnitudes)]
        found = max(found, float(finite.max())) if finite.size else found
    return found


def became_nonfinite(first: Array, second: Array) -> bool | None:
    """Whether NaN or infinity came up from `first` to `second`; False if it went, None if nothing changed so."""
    if not (is_inexact(first.dtype) and is_inexact(second.dtype)):
        return None
    was, now = bool(nonfinite_mask(first).any()), bool(nonfinite_mask(second).any())
    return None if was == now else now


def _chunks(first: Array, second: Array) -> Iterator[tuple[Array, Array]]:
    """Both in parts; one that is no plain memory is copied a part at a time only."""
    one, two = (array.reshape(-1) if array.flags.c_contiguous else array.flat for array in (first, second))
    for start in range(0, first.size, _CHUNK):
        yield np.asarray(one[start : start + _CHUNK]), np.asarray(two[start : start + _CHUNK])


def _is_number(array: Array) -> bool:
    return not array.dtype.hasobject and array.dtype.kind not in "SUO"


def _differs(first: Array, second: Array) -> Array:
    """Which elements are not the same; that a NaN is one, too, is not seen yet where types differ."""
    as_they_are = first.dtype == second.dtype or _are_integers(first, second)
    if not as_they_are and _is_number(first) and _is_number(second):
        first, second = _widened(first), _widened(second)
    with np.errstate(all="ignore"):
        differs = np.asarray(first != second)
        if differs.shape != first.shape:  # types that NumPy does not compare
            return np.ones(first.shape, bool)
        if differs.any() and _is_number(first):
            differs &= ~((first != first) & (second != second))
    return differs


def _of_chunk(first: Array, second: Array, rtol: float, atol: float, precision: Precision | None) -> Errors:
    differs = _differs(first, second)
    unequal = int(np.count_nonzero(differs))
    if not unequal:
        return Errors(first.size)
    with np.errstate(all="ignore"):
        one, two = _widened(first[differs]), _widened(second[differs])
        finite = np.isfinite(one) & np.isfinite(two)
        apart = _apart(first[differs], second[differs]) if _are_integers(first, second) else np.abs(one - two)
        gap = apart[finite]
        larger = np.maximum(np.abs(one), np.abs(two))[finite]
        outside = int(np.count_nonzero(~finite))
        beyond = outside + int(np.count_nonzero(~(gap <= atol + rtol * larger)))
        if not gap.size:
            return Errors(first.size, unequal, beyond, nonfinite=outside)
        steps = None if precision is None else float((gap / _step(larger, precision)).max())
        relative = gap / np.where(larger > 0, larger, 1)
    return Errors(first.size, unequal, beyond, float(gap.max()), float(relative.max()), steps, 0.0, outside)


def _are_integers(first: Array, second: Array) -> bool:
    """Whether both are integers of NumPy's own types, of which a float64 does not tell all apart."""
    return first.dtype.kind in "iu" and second.dtype.kind in "iu"


def _apart(first: Array, second: Array) -> Array:
    """How far apart integers are, as float64: taken of all 64 bits, and rounded after that."""
    one, two = first.astype(np.uint64), second.astype(np.uint64)  # of a negative number 2**64 more
    below = np.where(first < second, two - one, one - two).astype(np.float64)
    mixed = (first < 0) != (second < 0)
    far = mixed & (first.dtype != second.dtype)  # more than 64 bits hold, where one has no sign
    return np.where(far, np.abs(first.astype(np.float64) - second.astype(np.float64)), below)


def _step(magnitude: Array, precision: Precision) -> Array:
    """The distance of neighbouring numbers of that precision at `magnitude`."""
    _, exponent = np.frexp(magnitude)
    steps: Array = np.maximum(np.ldexp(precision.eps, exponent - 1), precision.smallest)
    return steps


def _widened(array: Array) -> Array:
    """`array` in a type that NumPy computes with, wide enough for differences."""
    if array.dtype.kind == "c" or array.dtype == np.float64:
        return array
    return in_double(array)
