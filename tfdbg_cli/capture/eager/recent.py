"""The ops that ran last, with what they read and gave, as far as memory allows.

Values are held without their tensors, so that a tensor dies when the program lets go of it. What a large variable
held is not kept: as long as somebody has it, TensorFlow copies the variable at its next update.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import tensorflow as tf

from tfdbg_cli.capture import compat_eager
from tfdbg_cli.capture.eager.places import scope_of_tape
from tfdbg_cli.capture.eager.stacks import Stack
from tfdbg_cli.model.tensors import gone
from tfdbg_cli.model.values import NoValue, Value

EagerTensor = compat_eager.EAGER_TENSOR
_SMALL = 1 << 16  # bytes of a variable that are copied for the log without a thought
# Ops whose output can be the memory of their first input.
_SAME_MEMORY = frozenset({
    "Identity", "Snapshot", "StopGradient", "PreventGradient", "Reshape", "ExpandDims", "Squeeze", "Bitcast",
})  # fmt: skip
_MOST_OPS = 20_000
RESOURCE = tf.resource.as_datatype_enum
STRING = tf.string.as_datatype_enum
HANDLES = frozenset({RESOURCE, tf.variant.as_datatype_enum})  # dtypes whose tensors hold no numbers
_LARGE = gone("What the variable held after this update is not kept, for it is large.")


@dataclass(eq=False, slots=True)
class Output:
    """One output of an op: its dtype by number, and its value, an array or a NumPy scalar, if it is held."""

    dtype: int
    value: Any
    shape: tuple[int, ...] = ()  # of a value that was let go of


@dataclass(eq=False, slots=True)
class Source:
    """What an op was given that no op of the log made.

    `given` is an array, a Python value, or a weak reference to the handle of a variable or of something else.
    """

    given: Any
    dtype: int = 0
    key: int = 0  # the id of the tensor that was given; 0 for a Python value


Read: TypeAlias = "tuple[RecentOp, int] | Source"


@dataclass(eq=False, slots=True)
class RecentOp:
    """An op that ran: the `number`th of the log, and the `count`th of its type, both from 0."""

    number: int
    op_type: str
    count: int
    scope: str
    inputs: list[Read]
    attributes: Sequence[Any]
    outputs: list[Output]
    stack: Stack
    device: str
    nbytes: int = 0
    released: bool = False  # its value is that of a large variable, and not held
    written: list[tuple[Source, Value]] = field(default_factory=list)  # variables, with their values after it

    @property
    def name(self) -> str:
        """Such as `dense/MatMul_3`: behind the scope of a layer, or the one that TensorFlow gives to gradients."""
        return f"{self.scope or scope_of_tape(self.stack)}{self.op_type}_{self.count}"

    def attribute(self, name: str) -> Any:
        """The value of an attribute; None where it is not given."""
        return dict(zip(self.attributes[::2], self.attributes[1::2], strict=False)).get(name)


class RecentOps:
    """A log that forgets its oldest ops: all but the last twenty thousand, and those beyond `budget` bytes."""

    def __init__(self, budget: int, *, all_values: bool = False) -> None:
        """With `all_values` those of large variables are held as well."""
        self._budget = budget
        self._largest_read = budget if all_values else _SMALL
        self._ops: deque[RecentOp] = deque()
        self._counts: dict[str, int] = {}
        self._made: dict[int, tuple[RecentOp, int]] = {}
        self._outside: dict[int, Source] = {}
        self._updates: dict[int, int] = {}  # by the id of a handle: the number of the op that updated it last
        self._nbytes = 0
        self.count = 0  # of all ops that were added
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._ops)

    def add(
        self, op_type: str, inputs: Sequence[Any], attributes: Sequence[Any], outputs: Sequence[Any], stack: Stack
    ) -> RecentOp:
        """Add an op that was given `inputs`, tensors, variables and Python values, and gave the tensors `outputs`."""
        op = self._append(op_type, [self._read(given, stack) for given in inputs], attributes, stack)
        for slot, tensor in enumerate(outputs):
            dtype, value = compat_eager.dtype_number(tensor), None
            if dtype not in HANDLES:
                value = compat_eager.host_array(tensor)
                op.nbytes += value.nbytes if dtype != STRING else 64
            op.outputs.append(Output(dtype, value))
            self._made[compat_eager.tensor_id(tensor)] = (op, slot)
        op.device = _only_device() or next(
            (one.device for one in (*outputs, *inputs) if type(one) is EagerTensor), ""
        )
        if op.nbytes > self._largest_read and _shows_a_variable(op):
            op.released, op.nbytes = True, 0  # whoever asks for the value has it until `settle`
        self._nbytes += op.nbytes
        while self._nbytes > self._budget or len(self._ops) > _MOST_OPS:
            self._drop()
        return op

    def _append(self, op_type: str, reads: list[Read], attributes: Sequence[Any], stack: Stack) -> RecentOp:
        self._counts[op_type] = count = self._counts.get(op_type, -1) + 1
        op = RecentOp(self.count, op_type, count, compat_eager.name_scope(), reads, attributes, [], stack, "")
        self.count += 1
        self._ops.append(op)
        return op

    def settle(self, op: RecentOp) -> None:
        """Let go of what `op` gave, if it is what a large variable holds."""
        if op.released:
            op.outputs[0].shape, op.outputs[0].value = op.outputs[0].value.shape, None

    def wrote(self, op: RecentOp, handle: Any, value: Value, *, keep: bool) -> None:
        """Note that `op` updated the variable behind `handle`, which now holds `value`; `keep` it, be it large."""
        source = self._source(handle)
        if not keep and not isinstance(value, NoValue) and value.nbytes > self._largest_read:
            value = _LARGE
        op.written.append((source, value))
        self._updates[source.key] = op.number

    def _drop(self) -> None:
        op = self._ops.popleft()
        self._nbytes -= op.nbytes
        self.dropped += 1
        op.inputs = []  # those that it read are let go of, too
        for output in op.outputs:
            output.value = None
        if len(self._made) > 4 * len(self._ops) + 1000:
            alive = set(map(id, self._ops))
            self._made = {key: made for key, made in self._made.items() if id(made[0]) in alive}

    def _read(self, given: Any, stack: Stack) -> Read:
        if type(given) is EagerTensor:
            return self._made.get(compat_eager.tensor_id(given)) or self._source(given)
        handle = getattr(given, "handle", None)
        if type(handle) is not EagerTensor:
            return Source(given)
        # A variable itself, which TensorFlow reads on the way.
        op = self._append("ReadVariableOp", [self._source(handle)], (), stack)
        op.outputs.append(Output(given.dtype.as_datatype_enum, None))
        return op, 0

    def _source(self, given: Any) -> Source:
        key = compat_eager.tensor_id(given)
        found = self._outside.get(key)
        if found is None:
            dtype = compat_eager.dtype_number(given)
            value = weakref.ref(given) if dtype in HANDLES else compat_eager.host_array(given)
            found = self._outside[key] = Source(value, dtype, key)
        return found

    def variable_of(self, op: RecentOp) -> Source | None:
        """The handle of the variable that `op` shows; None if it was updated since, or is not known any more."""
        while op.op_type != "ReadVariableOp":
            if not op.inputs or isinstance(op.inputs[0], Source):
                return None
            op = op.inputs[0][0]
        source = op.inputs[0] if op.inputs else None
        if not isinstance(source, Source) or self._updates.get(source.key, -1) > op.number:
            return None
        return source

    def ops(self) -> Iterator[RecentOp]:
        """The ops that are still known, the oldest first."""
        return iter(self._ops)


def _shows_a_variable(op: RecentOp) -> bool:
    """Whether what `op` gives is a variable's own memory."""
    if op.op_type not in _SAME_MEMORY:
        return op.op_type == "ReadVariableOp"
    return bool(op.inputs) and not isinstance(op.inputs[0], Source) and op.inputs[0][0].released


@cache
def _only_device() -> str:
    """The name of the only device that there is; empty where there are several."""
    found = tf.config.list_logical_devices()
    return found[0].name.replace("/device:", "/job:localhost/replica:0/task:0/device:", 1) if len(found) == 1 else ""
