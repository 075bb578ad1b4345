"""Tensors of a graph that hold no numbers: handles, and references to variables."""

from __future__ import annotations

from functools import cache

from tfdbg_cli.capture.tf.types import SymbolicTensor
from tfdbg_cli.model.dtypes import FIRST_REFERENCE, HANDLES, element_type
from tfdbg_cli.model.values import Lack, NoValue

HANDLE = NoValue(Lack.OPAQUE, "This is a handle; it holds no numbers.")


def is_handle(tensor: SymbolicTensor) -> bool:
    """Whether a tf.Tensor leads to something that is kept elsewhere: a variable, a data set, a list of tensors."""
    return _type_name(tensor.dtype.as_datatype_enum) in HANDLES


def is_reference(tensor: SymbolicTensor) -> bool:
    """Whether a tf.Tensor is the memory of a variable of the old kind (`use_resource=False`)."""
    number: int = tensor.dtype.as_datatype_enum
    return number >= FIRST_REFERENCE


@cache
def _type_name(number: int) -> str:
    return element_type(number).name


def is_opaque(tensor: SymbolicTensor) -> bool:
    """Whether a tf.Tensor is a handle or a reference, so that fetching it gives nothing to look at."""
    return is_handle(tensor) or is_reference(tensor)
