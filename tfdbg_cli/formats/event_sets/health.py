"""What an event set tells of one tensor, in each of the modes of Debugger V2: numbers, a shape, or the value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from tfdbg_cli.formats.messages import tensor_proto
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import Shape, nbytes_of
from tfdbg_cli.model.values import Lack, NoValue, Value


class DebugMode(IntEnum):
    """TensorDebugMode of tensorflow/core/protobuf/debug_event.proto, as far as TensorFlow can write it."""

    NO_TENSOR = 1
    CURT_HEALTH = 2
    CONCISE_HEALTH = 3
    FULL_HEALTH = 4
    SHAPE = 5
    FULL_TENSOR = 7


# What a mode has, as the end of a sentence.
_HOLDS = {
    DebugMode.NO_TENSOR: "no values and no numbers, only that a tensor was made",
    DebugMode.CURT_HEALTH: "no values, only whether one is NaN or infinite, and only of floating point tensors",
    DebugMode.CONCISE_HEALTH: "no values, only counts of NaN and infinities, and only of floating point tensors",
    DebugMode.FULL_HEALTH: "no values, only counts of NaN, infinities and signs, and only of floating point tensors",
    DebugMode.SHAPE: "no values, only types and shapes",
    DebugMode.FULL_TENSOR: "values",
}
_MOMENTS = frozenset({"min", "max", "mean", "std"})
_SIGNS = frozenset({"neg", "zero", "pos"})
_BAD = frozenset({"nan", "neg_inf", "pos_inf"})
# How many numbers a record in a mode holds.
LENGTHS = {DebugMode.CURT_HEALTH: 2, DebugMode.CONCISE_HEALTH: 5, DebugMode.FULL_HEALTH: 11, DebugMode.SHAPE: 10}
_SHAPE_AXES = 6  # of a longer shape the first axes are left out
LARGEST = 1 << 53  # up to here a float64 counts exactly


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a tensor: each part may be missing. `value` is the array, or says why there is none."""

    value: Value
    dtype: str = ""
    shape: Shape | None = None
    nbytes: int | None = None
    summary: Summary | None = None


def mode_of(number: int) -> DebugMode | None:
    """The mode with TensorFlow's number; None for one that no TensorFlow writes."""
    return DebugMode(number) if number in DebugMode._value2member_map_ else None


def records_text(mode: DebugMode) -> str:
    """What sets of this mode hold, as the end of a sentence."""
    return _HOLDS[mode]


def not_recorded(mode: DebugMode | None) -> NoValue:
    """Why there is no value, in a set of this mode."""
    if mode is None:
        return NoValue(Lack.UNKNOWN_DTYPE, "This set was written in a mode that this tfdbg does not know.")
    if mode is DebugMode.FULL_TENSOR:
        why = "it is a handle, or op_regex or tensor_dtypes left it out"
        return NoValue(Lack.OPAQUE, f"The value of this tensor was not recorded: {why}.")
    return NoValue(Lack.GONE, f"The mode {mode.name} records {_HOLDS[mode]}.")


def told(number: int, proto: Any | None) -> Told:
    """What the TensorProto of a record in the mode with this `number` tells; None where there is none."""
    mode = mode_of(number)
    if proto is None or not proto.dtype or mode is None or mode is DebugMode.NO_TENSOR:
        return Told(not_recorded(mode))
    if mode is DebugMode.FULL_TENSOR:
        return _whole(proto)
    numbers = tensor_proto.decode(proto)
    if isinstance(numbers, NoValue):
        return Told(numbers)
    if numbers.dtype != np.float64 or numbers.shape != (LENGTHS[mode],):
        return Told(tensor_proto.damaged(f"These are not the numbers that the mode {mode.name} records."))
    counts = [int(number) if 0 <= number < LARGEST else 0 for number in numbers.tolist()]
    return of_numbers(mode, counts)


def _whole(proto: Any) -> Told:
    value = tensor_proto.decode(proto)
    name = element_type(proto.dtype).name
    if isinstance(value, NoValue):
        return Told(value, name, tensor_proto.shape_of(proto.tensor_shape))
    return Told(value, name, value.shape, nbytes_of(value))


def of_numbers(mode: DebugMode, counts: list[int]) -> Told:
    """What the numbers say that a record in this `mode` holds, as whole ones."""
    lack = not_recorded(mode)
    if mode is DebugMode.CURT_HEALTH:
        spoiled = bool(counts[1])
        unknown = _MOMENTS | _SIGNS | {"size"} | (_BAD if spoiled else frozenset())
        return Told(lack, summary=Summary(0, unknown=unknown, spoiled=spoiled))
    if mode is DebugMode.CONCISE_HEALTH:
        _, size, neg_inf, pos_inf, nan = counts
        return Told(lack, summary=Summary(size, nan, neg_inf, pos_inf, unknown=_MOMENTS | _SIGNS))
    if mode is DebugMode.FULL_HEALTH:
        _, _, dtype, rank, size, neg_inf, pos_inf, nan, neg, zero, pos = counts
        element = element_type(dtype)
        summary = Summary(size, nan, neg_inf, pos_inf, neg, zero, pos, unknown=_MOMENTS)
        known: Shape | None = () if rank == 0 and size == 1 else (size,) if rank == 1 else None
        return Told(lack, element.name, known, _nbytes(element.itemsize, size), summary)
    _, dtype, rank, size, *axes = counts
    element = element_type(dtype)
    shape: Shape | None = tuple(axes[:rank]) if rank <= _SHAPE_AXES else None
    if shape is not None and math.prod(shape) != size:
        shape = None
    summary = Summary(size, unknown=_MOMENTS | _SIGNS | _BAD)
    return Told(lack, element.name, shape, _nbytes(element.itemsize, size), summary)


def _nbytes(itemsize: int | None, size: int) -> int | None:
    return None if itemsize is None else itemsize * size
