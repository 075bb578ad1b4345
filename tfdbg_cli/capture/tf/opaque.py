"""What the dtype of a tensor of a graph tells: its name, and whether there are numbers to look at."""

from __future__ import annotations

from functools import cache

from tfdbg_cli.capture.tf.types import SymbolicTensor
from tfdbg_cli.model.dtypes import FIRST_REFERENCE, HANDLES, element_type
from tfdbg_cli.model.values import Lack, NoValue

HANDLE = NoValue(Lack.OPAQUE, "This is a handle; it holds no numbers.")


def dtype_name(tensor: SymbolicTensor) -> str:
    """The name of the dtype of a tf.Tensor, such as `float32`; of a reference to a variable that of its value.

    Found by the number of the dtype: `dtype.base_dtype.name` takes three times as long, for every tensor of a graph.
    """
    return _name_of_type(tensor.dtype.as_datatype_enum)


@cache
def _name_of_type(number: int) -> str:
    return element_type(number).name


def is_handle(tensor: SymbolicTensor) -> bool:
    """Whether a tf.Tensor leads to something that is kept elsewhere: a variable, a data set, a list of tensors."""
    return _is_of_handles(tensor.dtype.as_datatype_enum)


@cache
def _is_of_handles(number: int) -> bool:
    return _name_of_type(number) in HANDLES


def is_reference(tensor: SymbolicTensor) -> bool:
    """Whether a tf.Tensor is the memory of a variable of the old kind (`use_resource=False`)."""
    number: int = tensor.dtype.as_datatype_enum
    return number >= FIRST_REFERENCE


def is_opaque(tensor: SymbolicTensor) -> bool:
    """Whether a tf.Tensor is a handle or a reference, so that fetching it gives nothing to look at."""
    return leads_elsewhere(tensor.dtype.as_datatype_enum)


def leads_elsewhere(dtype: int) -> bool:
    """Whether the tensors of that dtype, by its number, are `is_opaque`."""
    return dtype >= FIRST_REFERENCE or _is_of_handles(dtype)
