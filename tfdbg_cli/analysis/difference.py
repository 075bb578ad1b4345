"""Where two runs differ, tensor by tensor, in the order of execution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.tensors import GatheredTensors, Tensor, TensorStore
from tfdbg_cli.model.values import Array, NoValue, Value

_CHUNK = 1 << 20  # elements compared at a time, so that large tensors need little memory beside them


class Kind(StrEnum):
    """What sets two tensors of the same name apart."""

    VALUES = "values"
    BECAME_FINITE = "became finite"
    BECAME_NONFINITE = "became non-finite"
    SHAPE = "shape"
    DTYPE = "dtype"
    ONLY_FIRST = "only in the first"
    ONLY_SECOND = "only in the second"


@dataclass(frozen=True, slots=True)
class Difference:
    """One tensor that is not the same in two runs, at the rows `first` and `second` of their stores.

    `count` of the `size` elements differ. `max_abs` is the largest difference of finite elements, `max_rel` the
    largest one divided by the larger of both. Where nothing can be compared element by element these are zero.
    """

    kind: Kind
    first: int | None
    second: int | None
    count: int = 0
    size: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0


def differences(
    first: TensorStore, second: TensorStore, *, rtol: float = 0.0, atol: float = 0.0
) -> Iterator[Difference]:
    """The tensors that differ, in the order of `second`; then those that only `first` has.

    A NaN equals a NaN. With `rtol` and `atol`, elements are the same where |a - b| <= atol + rtol * max(|a|, |b|).
    Values that are not known are not compared.
    """
    rows = {_key(first[row]): row for row in range(len(first))}
    for row in range(len(second)):
        other = rows.pop(_key(second[row]), None)
        if other is None:
            yield Difference(Kind.ONLY_SECOND, None, row)
            continue
        if isinstance(second, GatheredTensors) and _is_of(second.source(row), first, other):
            continue
        found = _compared(first.value(other), second.value(row), rtol, atol)
        if found is not None:
            kind, counts = found
            yield Difference(kind, other, row, *counts)
    for row in rows.values():
        yield Difference(Kind.ONLY_FIRST, row, None)


def _is_of(source: tuple[TensorStore, int], store: TensorStore, row: int) -> bool:
    return source[0] is store and source[1] == row


def _key(tensor: Tensor) -> tuple[str, int, str, int]:
    return tensor.node, tensor.slot, tensor.device, tensor.execution


_Counts = tuple[int, int, float, float]
_NOTHING: _Counts = (0, 0, 0.0, 0.0)


def _compared(first: Value, second: Value, rtol: float, atol: float) -> tuple[Kind, _Counts] | None:
    if isinstance(first, NoValue) or isinstance(second, NoValue) or _is_same_memory(first, second):
        return None
    if first.dtype != second.dtype:
        return Kind.DTYPE, _NOTHING
    if first.shape != second.shape:
        return Kind.SHAPE, _NOTHING
    counts = _counted(first, second, rtol, atol)
    if not counts[0]:
        return None
    if is_inexact(first.dtype):
        was, now = bool(nonfinite_mask(first).any()), bool(nonfinite_mask(second).any())
        if was != now:
            return (Kind.BECAME_NONFINITE if now else Kind.BECAME_FINITE), counts
    return Kind.VALUES, counts


def _is_same_memory(first: Array, second: Array) -> bool:
    """Whether both are the same array: most of a run that was computed again in part is shared."""
    one, two = first.__array_interface__, second.__array_interface__
    same = one["data"][0] == two["data"][0] and first.shape == second.shape and first.dtype == second.dtype
    return bool(same and first.strides == second.strides and first.size)


def _counted(first: Array, second: Array, rtol: float, atol: float) -> _Counts:
    count, max_abs, max_rel = 0, 0.0, 0.0
    flat, other = first.reshape(-1), second.reshape(-1)
    for start in range(0, flat.size, _CHUNK):
        found, most, relative = _of_chunk(flat[start : start + _CHUNK], other[start : start + _CHUNK], rtol, atol)
        count, max_abs, max_rel = count + found, max(max_abs, most), max(max_rel, relative)
    return count, flat.size, max_abs, max_rel


def _of_chunk(first: Array, second: Array, rtol: float, atol: float) -> tuple[int, float, float]:
    with np.errstate(all="ignore"):
        differs = np.asarray(first != second)
        if first.dtype.hasobject or first.dtype.kind in "SU" or not differs.any():
            return int(np.count_nonzero(differs)), 0.0, 0.0
        one, two = _widened(first[differs]), _widened(second[differs])
        finite = np.isfinite(one) & np.isfinite(two)
        gap = np.abs(one - two)
        larger = np.maximum(np.abs(one), np.abs(two))
        same = np.isnan(one) & np.isnan(two)
        if rtol or atol:
            same |= finite & (gap <= atol + rtol * larger)
        shown = finite & ~same
        count = same.size - int(np.count_nonzero(same))
        if not shown.any():
            return count, 0.0, 0.0
        relative = gap[shown] / np.where(larger[shown] > 0, larger[shown], 1)
        return count, float(gap[shown].max()), float(relative.max())


def _widened(array: Array) -> Array:
    """`array` in a type that NumPy computes with, wide enough for differences."""
    if array.dtype.kind == "c" or array.dtype == np.float64:
        return array
    return array.astype(np.float64)
