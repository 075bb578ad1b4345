"""The private parts of TensorFlow that concern eager ops and tensors; see `compat`."""

from __future__ import annotations

from types import CodeType
from typing import Any

import numpy as np
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, context
from tensorflow.python.framework import ops
from tensorflow.python.ops import script_ops

_context = context.context
PY_FUNCTION: CodeType = script_ops.EagerFunc.__call__.__code__  # by which an op of tf.py_function calls Python
TAPE_GRADIENT: CodeType = backprop._gradient_function.__code__  # by which a tape calls the gradient of one op
EAGER_TENSOR: Any = ops.EagerTensor

# How eager ops reach the runtime: `fast(context, op_type, name, *inputs, *attributes)`, and
# `slow(handle, device, op_type, inputs, attributes, outputs, …)`.
EXECUTORS: Any = pywrap_tfe
FAST_EXECUTOR, SLOW_EXECUTOR = "TFE_Py_FastPathExecute", "TFE_Py_Execute"


def host_array(tensor: Any) -> Any:
    """The array or NumPy scalar in an eager tensor; it shares the memory of one on the host, but not its life."""
    value = tensor._numpy_internal()
    return np.array(value, object) if isinstance(value, bytes) else value  # one string comes as it is


def dtype_number(tensor: Any) -> int:
    """The number of an eager tensor's dtype (types.proto). A tenth of the time of its public `dtype`."""
    number: int = tensor._datatype_enum()
    return number


def read_variable(handle: Any, dtype: int) -> Any:
    """The tensor that the variable behind an eager handle holds; unseen by tapes."""
    eager = _context()
    return pywrap_tfe.TFE_Py_Execute(eager._handle, "", "ReadVariableOp", [handle], ("dtype", dtype), 1)[0]


def name_scope() -> str:
    """The name scope that this thread is in, with a slash behind it; empty outside."""
    scope: str = _context().scope_name
    return scope or ""


def tensor_id(tensor: Any) -> int:
    """A number that no other eager tensor of the process has, now or later."""
    number: int = tensor._id
    return number
