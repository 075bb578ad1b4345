"""The constants of functions: known before a run, so that no run has to give them back.

Of the nodes of a traced program every third may be one. What gives them back has to be made ready with an output for
each, and TensorFlow cannot make one of many that are equal.
"""

from __future__ import annotations

import math

from tfdbg_cli.capture.functions.definition.body import Body
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.static_values import array_in
from tfdbg_cli.capture.tf.types import EagerTensor, NodeDef
from tfdbg_cli.model.dtypes import element_type

_LARGEST = 1 << 16  # bytes; a run gives back a larger one, so that it is held no longer than other values
_TYPES = frozenset({
    "bfloat16", "bool", "complex128", "complex64", "float16", "float32", "float64", "int16", "int32", "int64", "int8",
    "uint16", "uint32", "uint64", "uint8",
})  # fmt: skip
_HELD: Memo[dict[bytes, EagerTensor]] = Memo(lambda body: {})


def constant_in(body: Body, node: NodeDef) -> EagerTensor | None:
    """What `node`, one of `body`, gives in each run, if it is a small constant of numbers; equal ones are one tensor.

    A constant for a device that the program chose is left to that device.
    """
    if node.op != "Const" or node.device:
        return None
    told = node.attr["value"].tensor
    element = element_type(told.dtype)
    elements = math.prod(dim.size for dim in told.tensor_shape.dim)
    if element.name not in _TYPES or elements * (element.itemsize or 0) > _LARGEST:
        return None
    held, key = _HELD.of(body), told.SerializeToString(deterministic=True)
    if key not in held:
        array = array_in(told)
        if array is None:
            return None
        with INSIDE:
            held[key] = compat.eager_tensor(array)
    return held[key]
