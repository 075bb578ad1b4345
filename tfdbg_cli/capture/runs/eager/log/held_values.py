"""What a log of eager ops holds of tensors and variables, as arrays."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.capture.runs.eager.log.noted_ops import OutsideInput, Read, Released
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.values import Array, Lack, NoValue, Value
from tfdbg_cli.process.interruptions import our_errors


def array_from(value: object) -> Array:
    """`value` as an array that cannot be written to."""
    array = np.asarray(value).view()
    array.flags.writeable = False
    return array


def kept(read: Read) -> Array | None:
    """What the log holds of an input of an op; None of a variable that it did not read, and of a Python value.

    What TensorFlow made of a Python value depends on the dtype that the op wanted.
    """
    if isinstance(read, OutsideInput):
        return array_from(read.given) if read.key and read.dtype not in HANDLE_NUMBERS else None
    op, slot = read
    value = op.outputs[slot][2] if slot < len(op.outputs) else None
    return None if value is None or isinstance(value, Released) else array_from(value)


def variable_value(handle: EagerTensor, dtype: int) -> Value:
    """What the variable behind `handle` holds now; `dtype` by number."""
    try:
        return array_from(compat.host_array(compat.read_variable(handle, dtype)))
    except our_errors() as error:  # a variable that is gone, or was never initialized
        return NoValue(Lack.UNINITIALIZED, f"TensorFlow does not give it: {type(error).__name__}.")
