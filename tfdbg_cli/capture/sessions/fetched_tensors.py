"""The tensors that were fetched from a session, as tensors of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from tfdbg_cli.capture.sessions.as_written import written_type
from tfdbg_cli.capture.sessions.program_graph import tensor_name
from tfdbg_cli.capture.tf.opaque import HANDLE, dtype_name, is_handle
from tfdbg_cli.capture.tf.types import FetchedValue, SymbolicTensor
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import FoundByNode, MemoryTensorStore, Tensor, describe
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


@dataclass(frozen=True, slots=True)
class Outlined:
    """What is known of a tf.Tensor in a graph without its value; the same in every run."""

    name: TensorName
    device: str
    dtype: str
    op_type: str

    @classmethod
    def of(cls, tensor: SymbolicTensor) -> Outlined:
        """What is known of `tensor`."""
        return cls(tensor_name(tensor), tensor.device, dtype_name(tensor), written_type(tensor.op))

    def holding(self, value: Value) -> Tensor:
        """The description of the tensor, whose value is at hand."""
        return describe(self.name, value, device=self.device, op_type=self.op_type, dtype=self.dtype)


class OutlinedTensors(FoundByNode):
    """Tensors of which all but the value was known; each is described when somebody looks."""

    def __init__(
        self, outlines: Sequence[Outlined], values: Sequence[Value], alike: FoundByNode | None = None
    ) -> None:
        """Put the two together; `alike` has tensors of the same names in the same order, if that is known."""
        super().__init__((outline.name for outline in outlines), alike)
        self._outlines = outlines
        self._values = values

    def __len__(self) -> int:
        return len(self._outlines)

    def __getitem__(self, index: int) -> Tensor:
        return self._outlines[index].holding(self._values[index])

    def value(self, index: int) -> Value:
        return self._values[index]


def described(tensor: SymbolicTensor, value: Value) -> Tensor:
    """The description of a tf.Tensor in a graph whose value is at hand."""
    return Outlined.of(tensor).holding(value)


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
