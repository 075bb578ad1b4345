"""How a value is shown that came into a log of eager ops from outside: as an input, a variable or a constant."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.log.held_values import array_from
from tfdbg_cli.capture.runs.eager.log.noted_ops import OutsideInput, Read, RecentOp
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_definitions import dtype_of_input
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.values import Array

VARIABLE, INPUT, LITERAL = "VarHandleOp", "Placeholder", "Const"
_RESOURCE = re.compile(r'ResourceHandle\(name="(?P<name>[^"]+?)(?:/\d+)?"')


def attributes_of(given: Array) -> Mapping[str, str]:
    """The attributes of a placeholder that stands for `given`: its dtype and its shape."""
    return {"dtype": name_of(given.dtype), "shape": f"[{','.join(map(str, given.shape))}]"}


def given_to(op: RecentOp, source: OutsideInput) -> Array:
    """The array that `op` was given; a Python value in the dtype to which TensorFlow converted it for the op."""
    value = array_from(source.given)
    if source.key or value.dtype.kind not in "biufc":
        return value
    position = next(i for i, read in enumerate(op.inputs) if read is source)
    outputs = [dtype for _, dtype, _ in op.outputs]
    dtype = dtype_of_input(op.op_type, position, [_dtype_read(read) for read in op.inputs], outputs)
    if not dtype:
        return value
    with np.errstate(over="ignore"):
        return value.astype(tf.as_dtype(dtype).as_numpy_dtype)


def _dtype_read(read: Read) -> int:
    """The dtype of an input of an op, by its number; 0 of a Python value."""
    if isinstance(read, OutsideInput):
        return read.dtype
    op, slot = read
    return op.outputs[slot][1] if slot < len(op.outputs) else 0


def kind_of(op: RecentOp, source: OutsideInput, given: Array) -> str:
    """The op type that a value is shown with: an infinity or a NaN that the program wrote down is a constant.

    So is one that only the dtype makes infinite. An infinity of Python's of which TensorFlow made a tensor may have
    been computed; one that is multiplied counts as written, since it was none before TensorFlow 2.22.
    """
    number = source.number if source.key else source.given
    if not isinstance(number, float) or np.isfinite(given):
        return INPUT
    multiplied = op.op_type == "Mul" and math.isinf(number)
    return LITERAL if not source.key or math.isfinite(number) or multiplied else INPUT


def kind_of_handle(handle: EagerTensor | None) -> tuple[str, str]:
    """The op type that a handle is shown with, and the name that TensorFlow knows its variable by."""
    if handle is None or compat.type_in_variable(handle) is None:
        return INPUT, ""
    match = _RESOURCE.search(str(handle))
    return VARIABLE, match["name"] if match else "variable"
