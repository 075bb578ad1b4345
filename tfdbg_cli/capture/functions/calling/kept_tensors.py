"""The tensors of a call, kept where they were made and copied to NumPy only when somebody looks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.functions.calling.executions import ValueExecutions, executions_of
from tfdbg_cli.capture.functions.calling.recomputed import LazyTensor, Recomputed, shape_of
from tfdbg_cli.capture.functions.calling.straight import StraightTensors
from tfdbg_cli.capture.functions.definition.body import Output
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.opaque import HANDLE
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.errors import reason_of
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.tensors import Tensor, nbytes_of
from tfdbg_cli.model.values import Array, Lack, NoValue, Value
from tfdbg_cli.process.interruptions import our_errors

_NOT_COMPUTED = NoValue(Lack.UNINITIALIZED, "The branch that was taken does not compute it.")
_KIND = re.compile(r"device:(\w+):")
_BUILT_IN = 1  # NumPy's number for its own types; the kind tells nothing: that of a float8_e5m2 is that of a float32


class KeptTensors:
    """A `TensorStore` of tensors at hand or to be computed, in order of execution; None for one without numbers."""

    def __init__(
        self, shown: Sequence[Shown], tensors: Sequence[LazyTensor | None], executions: ValueExecutions | None = None
    ) -> None:
        """Keep the `tensors` that are `shown`; `executions` are what is known of these, if anything is."""
        self._shown = shown
        self._tensors = tensors
        self._executions = executions_of(shown) if executions is None else executions
        self._last: tuple[int, Value] = -1, _NOT_COMPUTED
        self._described: list[Tensor | None] = [None] * len(shown)  # who records a run asks for each a few times

    @classmethod
    def of(cls, values: Iterable[tuple[Shown, LazyTensor | None]]) -> KeptTensors:
        """As it is made, of pairs."""
        pairs = list(values)
        return cls([shown for shown, _ in pairs], [tensor for _, tensor in pairs])

    @property
    def held_bytes(self) -> int:
        """The bytes that the tensors take, without texts, and without those that are still to be computed."""
        itemsizes = self._executions.itemsizes
        return sum(itemsizes[at] * compat.elements_of(tensor) for at, tensor in self._at_hand())

    def _at_hand(self) -> Iterable[tuple[int, EagerTensor]]:
        if isinstance(self._tensors, StraightTensors):
            return self._tensors.at_hand()
        at_hand = (tensor is not None and not isinstance(tensor, Recomputed) for tensor in self._tensors)
        return compress(enumerate(self._tensors), at_hand)

    def __len__(self) -> int:
        return len(self._shown)

    def __getitem__(self, index: int) -> Tensor:
        found = self._described[index]
        if found is None:
            found = self._described[index] = self._describe(index)
        return found

    def _describe(self, index: int) -> Tensor:
        shown, tensor = self._shown[index], self._tensors[index]
        dtype, execution = element_type(shown.dtype), self._executions.numbers[index]
        if tensor is None:
            return Tensor(shown.name, shown.device, execution, dtype.name, None, None, None, shown.op_type)
        shape = shape_of(tensor)
        size = dtype.itemsize
        nbytes = _texts_size(tensor) if size is None else size * math.prod(shape)
        return Tensor(shown.name, self.device(index), execution, dtype.name, shape, nbytes, None, shown.op_type)

    def pairs(self) -> Sequence[tuple[Shown, LazyTensor | None]]:
        """The descriptions and the tensors, in order; None for one that holds no numbers."""
        return list(zip(self._shown, self._tensors, strict=True))

    def tensor(self, index: int) -> LazyTensor | None:
        """The tensor at `index`; None for one that holds no numbers."""
        return self._tensors[index]

    def device(self, index: int) -> str:
        shown, tensor = self._shown[index], self._tensors[index]
        return shown.device if tensor is None else _place(shown.device, tensor.device)

    def repeats(self) -> bool:
        return self._executions.repeated

    def value(self, index: int) -> Value:
        tensor = self._tensors[index]
        if tensor is None:
            return _NOT_COMPUTED if Output("", self._shown[index].dtype).returnable else HANDLE
        found = array_of(tensor)
        self._last = index, found
        return found

    def memory(self, index: int) -> int | None:
        tensor = self._tensors[index]
        if not isinstance(tensor, compat.EagerTensor):
            return None
        last, array = self._last  # who asks for the memory has asked for the value
        if last != index:
            array = array_of(tensor)
        if isinstance(array, NoValue) or array.dtype.hasobject or _is_copy(array):
            return None
        # Of what is not in the host's memory NumPy gets a copy. Once that is gone, the next tensor's may lie in its
        # place; as long as it is there, a second one lies elsewhere.
        address = _address(array)
        return address if _address(compat.host_array(tensor)) == address else None

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        found = self._executions.by_node.get(node, [])
        return found if slot is None else [i for i in found if self._shown[i].name.slot == slot]

    def nodes(self) -> Sequence[str]:
        return self._executions.nodes


def _texts_size(tensor: LazyTensor) -> int | None:
    """Bytes of the texts in `tensor`; None where it would have to be computed for that, or read from a variable."""
    value = array_of(tensor) if isinstance(tensor, compat.EagerTensor) else None
    return None if value is None or isinstance(value, NoValue) else nbytes_of(value)


NO_TENSORS = KeptTensors((), ())


def alias(tensor: EagerTensor) -> EagerTensor:
    """Another tensor with the value of `tensor`, in the same memory, so that one of the program's can die."""
    with own_ops():
        made: EagerTensor = tf.raw_ops.Identity(input=tensor)
    return made


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _is_copy(array: Array) -> bool:
    """Whether the memory of `array` is its own, and not that of the tensor that it was made of."""
    found: object = array
    while isinstance(found, np.ndarray):
        if found.flags.owndata or not found.flags.c_contiguous:
            return True
        found = found.base
    return False


@lru_cache(maxsize=1000)
def _place(asked: str, found: str) -> str:
    """Where an op ran: TensorFlow says of values of any CPU that they lie on the first one.

    The device that was asked for counts if it is of the kind that was found: else the op ran elsewhere. One that is
    asked for by its number alone, as by `tf.device("CPU:1")`, is that of the place that was found, if it has one.
    """
    if _KIND.findall(asked) != _KIND.findall(found):
        return found
    if asked.count(":") >= 5:
        return asked
    there = f"{found.rpartition('/device:')[0]}{asked}"
    return there if asked.startswith("/device:") and not {asked, there}.isdisjoint(_logical_devices()) else found


def _logical_devices() -> frozenset[str]:
    """The devices of this process; TensorFlow names them without the task, unless there is a cluster."""
    return frozenset(device.name for device in tf.config.list_logical_devices())


def array_of(tensor: LazyTensor) -> Value:
    """The array in an eager tensor, a variable or a value to be computed, or why there is none.

    It shares the memory of a tensor on the host, or else a filter over all values of a run would spend its time on
    copies; so it cannot be written to.
    """
    try:
        if isinstance(tensor, compat.EagerTensor):
            array = _held_array(tensor)
        else:
            with own_ops():  # a variable is read by an op, and others are computed by some
                array = _held_array(tensor.tensor() if isinstance(tensor, Recomputed) else tensor)
    except our_errors() as error:  # a device that is gone, memory that does not suffice
        return NoValue(Lack.DAMAGED, f"TensorFlow does not give it: {reason_of(error)}")
    shared = array.view()
    shared.flags.writeable = False
    return shared


def _held_array(held: EagerTensor | tf.Variable) -> Array:
    # NumPy cannot take a single bfloat16 or 8 bit float by itself. To ask for the shape takes longer than the rest.
    single = _is_foreign(held.dtype) and not held.shape.rank
    return np.asarray(held.numpy() if single else held)


@lru_cache(maxsize=100)
def _is_foreign(dtype: tf.DType) -> bool:
    """Whether NumPy has no such elements of its own."""
    return bool(dtype != tf.string and np.dtype(dtype.as_numpy_dtype).isbuiltin != _BUILT_IN)
