"""The tensors of a call, kept where they were made and copied to NumPy only when somebody looks."""

from __future__ import annotations

import math
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import count
from operator import is_

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import Output
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.functions.recomputed import LazyTensor, Recomputed, shape_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.opaque import HANDLE
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.values import Array, Lack, NoValue, Value

_NOT_COMPUTED = NoValue(Lack.UNINITIALIZED, "The branch that was taken does not compute it.")
_KIND = re.compile(r"device:(\w+):")


class _Order:
    """Which execution of its node each tensor of a call is, and where the tensors of a node are."""

    def __init__(self, shown: Sequence[Shown]) -> None:
        self.shown = shown
        self.executions: list[int] = []
        counts: defaultdict[TensorName, Iterator[int]] = defaultdict(count)  # to hash a name takes the longest here
        for one in shown:
            self.executions.append(next(counts[one.name]))

    @cached_property
    def by_node(self) -> dict[str, list[int]]:
        """The places of the tensors of each node."""
        found: dict[str, list[int]] = {}
        for index, one in enumerate(self.shown):
            found.setdefault(one.name.node, []).append(index)
        return found


_ORDERS: deque[_Order] = deque(maxlen=4)  # a function without loops shows the same tensors in each call
_WORTH = 100_000  # tensors: an order of more is not kept


def _order_of(shown: Sequence[Shown]) -> _Order:
    """The order of `shown`, made anew where none of the last calls had the same tensors."""
    for known in tuple(_ORDERS):
        if len(known.shown) == len(shown) and all(map(is_, known.shown, shown)):
            return known
    made = _Order(shown)
    if len(shown) <= _WORTH:
        _ORDERS.append(made)
    return made


class KeptTensors:
    """A `TensorStore` of tensors at hand or to be computed, in order of execution; None for one without numbers."""

    def __init__(self, values: Sequence[tuple[Shown, LazyTensor | None]]) -> None:
        self._values = values
        self._order = _order_of([shown for shown, _ in values])
        self._last: tuple[int, Value] = -1, _NOT_COMPUTED
        self._described: list[Tensor | None] = [None] * len(values)  # who records a run asks for each a few times

    @property
    def held_bytes(self) -> int:
        """The bytes that the tensors take, without texts, and without those that are still to be computed."""
        return sum(
            (element_type(shown.dtype).itemsize or 0) * math.prod(compat.shape_of(tensor))
            for shown, tensor in self._values
            if tensor is not None and not isinstance(tensor, Recomputed)
        )

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> Tensor:
        found = self._described[index]
        if found is None:
            found = self._described[index] = self._describe(index)
        return found

    def _describe(self, index: int) -> Tensor:
        shown, tensor = self._values[index]
        dtype, execution = element_type(shown.dtype), self._order.executions[index]
        if tensor is None:
            return Tensor(shown.name, shown.device, execution, dtype.name, None, None, None, shown.op_type)
        shape = shape_of(tensor)
        size = dtype.itemsize
        nbytes = None if size is None else size * math.prod(shape)
        device = _place(shown.device, tensor.device)
        return Tensor(shown.name, device, execution, dtype.name, shape, nbytes, None, shown.op_type)

    def pairs(self) -> Sequence[tuple[Shown, LazyTensor | None]]:
        """The descriptions and the tensors, in order; None for one that holds no numbers."""
        return self._values

    def value(self, index: int) -> Value:
        tensor = self._values[index][1]
        if tensor is None:
            return _NOT_COMPUTED if Output("", self._values[index][0].dtype).returnable else HANDLE
        found = array_of(tensor)
        self._last = index, found
        return found

    def memory(self, index: int) -> int | None:
        tensor = self._values[index][1]
        if not isinstance(tensor, compat.EagerTensor):
            return None
        last, array = self._last  # who asks for the memory has asked for the value
        if last != index:
            array = array_of(tensor)
        if isinstance(array, NoValue) or _is_copy(array):
            return None
        return int(array.__array_interface__["data"][0])

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        found = self._order.by_node.get(node, [])
        return found if slot is None else [i for i in found if self._values[i][0].name.slot == slot]

    def nodes(self) -> Sequence[str]:
        return list(self._order.by_node)


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

    The device that was asked for counts if it is of the kind that was found: else the op ran elsewhere.
    """
    return asked if _KIND.findall(asked) == _KIND.findall(found) and asked.count(":") >= 5 else found


def array_of(tensor: LazyTensor) -> Value:
    """The array in an eager tensor, a variable or a value to be computed, or why there is none.

    It shares the memory of a tensor on the host, or else a filter over all values of a run would spend its time on
    copies; so it cannot be written to.
    """
    with INSIDE:
        try:
            held = tensor.tensor() if isinstance(tensor, Recomputed) else tensor
            # NumPy cannot take a single bfloat16 or 8 bit float by itself.
            shape = compat.shape_of(held) if isinstance(held, compat.EagerTensor) else tuple(held.shape)
            single = not shape and held.dtype != tf.string
            array = np.asarray(held.numpy() if single else held)
        except Exception as error:  # noqa: BLE001  # a device that is gone, memory that does not suffice
            return NoValue(Lack.DAMAGED, f"TensorFlow does not give it: {type(error).__name__}: {error}")
    shared = array.view()
    shared.flags.writeable = False
    return shared
