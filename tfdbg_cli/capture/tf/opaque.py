"""Tensors of a graph that hold no numbers: handles, and references to variables."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.model.dtypes import HANDLES
from tfdbg_cli.model.values import Lack, NoValue

HANDLE = NoValue(Lack.OPAQUE, "This is a handle; it holds no numbers.")


def is_handle(tensor: Any) -> bool:
    """Whether a tf.Tensor leads to something that is kept elsewhere: a variable, a data set, a list of tensors."""
    return tensor.dtype.base_dtype.name in HANDLES


def is_reference(tensor: Any) -> bool:
    """Whether a tf.Tensor is the memory of a variable of the old kind (`use_resource=False`)."""
    return bool(tensor.dtype != tensor.dtype.base_dtype)


def is_opaque(tensor: Any) -> bool:
    """Whether a tf.Tensor is one of both: fetching it gives nothing to look at."""
    return is_handle(tensor) or is_reference(tensor)
