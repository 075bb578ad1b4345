"""The tensors that were fetched from a session, as tensors of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tfdbg_cli.capture.sessions.as_written import written_type
from tfdbg_cli.capture.sessions.program_graph import tensor_name
from tfdbg_cli.capture.tf.opaque import HANDLE, is_handle
from tfdbg_cli.capture.tf.types import FetchedValue, SymbolicTensor
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

_REFERENCE = NoValue(Lack.OPAQUE, "This is a reference to a variable; what was read from it is at its readers.")


def stored(
    tensors: Sequence[SymbolicTensor],
    opaque: Collection[str],
    fetched: Sequence[FetchedValue],
    references: Mapping[str, Array] = MappingProxyType({}),
) -> MemoryTensorStore:
    """A store of `tensors`; `fetched` are the values of those that `opaque` does not name, in their order.

    `references` are those of variables of the old kind, by name, as far as they are known.
    """
    given = iter(fetched)
    values = [
        references.get(tensor.name, handle_value(tensor)) if tensor.name in opaque else fetched_array(next(given))
        for tensor in tensors
    ]
    return MemoryTensorStore(list(map(described, tensors, values)), values)


def handle_value(tensor: SymbolicTensor) -> NoValue:
    """Why a handle, or a reference to a variable, has no array."""
    return HANDLE if is_handle(tensor) else _REFERENCE


def described(tensor: SymbolicTensor, value: Value) -> Tensor:
    """The description of a tf.Tensor in a graph whose value is at hand."""
    return describe(
        tensor_name(tensor),
        value,
        device=tensor.device,
        op_type=written_type(tensor.op),
        dtype=tensor.dtype.base_dtype.name,
    )


def fetched_array(value: FetchedValue) -> Array:
    """What Session.run gives for a tensor (an array, a NumPy scalar, bytes for a string) as an array."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bytes | str):
        array = np.empty((), np.dtype(object))
        array[()] = value
        return array
    return np.asarray(value)


def store_of(values: Mapping[Any, Array]) -> MemoryTensorStore:
    """A store of the values of a few tf.Tensors (keyed by `tensor.ref()`)."""
    tensors = [described(reference.deref(), value) for reference, value in values.items()]
    return MemoryTensorStore(tensors, list(values.values()))
