"""What changed from a run to one that was made of it: tensors by their names, in the order of execution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.analysis.difference.errors import became_nonfinite, measured
from tfdbg_cli.analysis.difference.tolerance import EXACT
from tfdbg_cli.model.gathered import GatheredTensors
from tfdbg_cli.model.tensors import Tensor, TensorStore
from tfdbg_cli.model.values import Array, NoValue, Value


class DifferenceKind(StrEnum):
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

    kind: DifferenceKind
    first: int | None
    second: int | None
    count: int = 0
    size: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0


def differences(first: TensorStore, second: TensorStore) -> Iterator[Difference]:
    """The tensors that differ, in the order of `second`; then those that only `first` has.

    They differ in a bit; a NaN equals a NaN. Values that are not known are not compared.
    """
    rows = {_key(first[row]): row for row in range(len(first))}
    for row in range(len(second)):
        other = rows.pop(_key(second[row]), None)
        if other is None:
            yield Difference(DifferenceKind.ONLY_SECOND, None, row)
            continue
        if isinstance(second, GatheredTensors) and _is_of(second.source(row), first, other):
            continue
        found = _compared(first.value(other), second.value(row))
        if found is not None:
            kind, counts = found
            yield Difference(kind, other, row, *counts)
    for row in rows.values():
        yield Difference(DifferenceKind.ONLY_FIRST, row, None)


def _is_of(source: tuple[TensorStore, int], store: TensorStore, row: int) -> bool:
    return source[0] is store and source[1] == row


def _key(tensor: Tensor) -> tuple[str, int, str, int]:
    return tensor.node, tensor.slot, tensor.device, tensor.execution


_Counts = tuple[int, int, float, float]
_NOTHING: _Counts = (0, 0, 0.0, 0.0)


def _compared(first: Value, second: Value) -> tuple[DifferenceKind, _Counts] | None:
    if isinstance(first, NoValue) or isinstance(second, NoValue) or _is_same_memory(first, second):
        return None
    if first.dtype != second.dtype:
        return DifferenceKind.DTYPE, _NOTHING
    if first.shape != second.shape:
        return DifferenceKind.SHAPE, _NOTHING
    found = measured(first, second, EXACT)
    if not found.unequal:
        return None
    counts = found.unequal, found.size, found.max_abs, found.max_rel
    became = became_nonfinite(first, second)
    if became is None:
        return DifferenceKind.VALUES, counts
    return (DifferenceKind.BECAME_NONFINITE if became else DifferenceKind.BECAME_FINITE), counts


def _is_same_memory(first: Array, second: Array) -> bool:
    """Whether both are the same array: most of a run that was computed again in part is shared."""
    one, two = first.__array_interface__, second.__array_interface__
    same = one["data"][0] == two["data"][0] and first.shape == second.shape and first.dtype == second.dtype
    return bool(same and first.strides == second.strides and first.size)
