"""A log of the eager ops that ran last, with what they read and gave, as far as memory allows.

Values are held without their tensors, so that a tensor dies when the program lets go of it. What a large variable
held is not kept: as long as somebody has it, TensorFlow copies the variable at its next update.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.forward_ops import ForwardOps
from tfdbg_cli.capture.runs.eager.program.places import scope_of_op
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, eager_context, host_array, tensor_id
from tfdbg_cli.capture.tf.types import AttributeList, OpInput
from tfdbg_cli.model.tensors import gone
from tfdbg_cli.model.values import NoValue, Value
from tfdbg_cli.ops.kinds import COPIES, RESHAPES

_SMALL = 1 << 16  # bytes of a variable that are copied for the log without a thought
# Ops whose output can be the memory of their first input.
_SAME_MEMORY = COPIES | RESHAPES | {"Bitcast"}
_MOST_OPS = 20_000
RESOURCE = tf.resource.as_datatype_enum
STRING = tf.string.as_datatype_enum
HANDLES = frozenset({RESOURCE, tf.variant.as_datatype_enum})  # dtypes whose tensors hold no numbers
_SPECIAL = HANDLES | {STRING}
LATER = gone("The variable is read when somebody looks.")
_LARGE = gone("What the variable held after this update is not kept, for it is large.")


@dataclass(frozen=True, slots=True)
class Released:
    """Stands for the value of a large variable, which is not held: its shape."""

    shape: tuple[int, ...]


# A tensor that an op gave: id, dtype by number, value (an array, a NumPy scalar, `Released`, None of a handle).
Taken: TypeAlias = tuple[int, int, Any]


def taken(tensor: EagerTensor) -> Taken:
    """What the log keeps of a tensor that an op gave."""
    dtype = dtype_number(tensor)
    if dtype in _SPECIAL:
        return tensor_id(tensor), dtype, None if dtype in HANDLES else _array(tensor)
    return tensor_id(tensor), dtype, host_array(tensor)


def _array(tensor: EagerTensor) -> Any:
    value = host_array(tensor)
    return np.array(value, object) if type(value) is bytes else value  # one string comes as it is


@dataclass(eq=False, slots=True)
class Source:
    """What an op was given that no op of the log made.

    `given` is an array, a Python value, or a weak reference to the handle of a variable or of something else.
    """

    given: Any
    dtype: int = 0
    key: int = 0  # the id of the tensor that was given; 0 for a Python value
    nbytes: int = 0  # that it holds
    readers: int = 0  # how often ops of the log were given it


@dataclass(eq=False, slots=True)
class _OnTheWay:
    """A variable given to an op that wants a tensor, so that TensorFlow read it first: handle, dtype by number."""

    handle: Source
    dtype: int
    count: int


# An op as it is noted, in a form that costs little, for most are forgotten unseen: `RecentOp` without its links.
# Its inputs are ids of tensors that ops before it gave, or what came from elsewhere.
Noted: TypeAlias = (
    "tuple[int, str, int, str, list[int | Source | _OnTheWay], Sequence[Any], Sequence[Taken], Stack, str, int]"
)
Read: TypeAlias = "tuple[RecentOp, int] | Source"


@dataclass(eq=False, slots=True)
class RecentOp:
    """An op that ran: the `number`th of the log, and the `count`th of its type, both from 0."""

    number: int
    op_type: str
    count: int
    scope: str
    inputs: list[Read]
    attributes: AttributeList
    outputs: Sequence[Taken]
    stack: Stack
    device: str
    written: Sequence[tuple[Source, Value]] = field(default_factory=list)  # variables, with their values after it

    @property
    def name(self) -> str:
        """The name by which it is shown, such as `dense/MatMul_3`, with the scope of a layer or of gradients."""
        return _name(self.scope, self.stack, self.op_type, self.count)


def name_of(op: Noted) -> str:
    """The name by which an op is shown; see `RecentOp.name`."""
    return _name(op[3], op[7], op[1], op[2])


def _name(scope: str, stack: Stack, op_type: str, count: int) -> str:
    return f"{scope_of_op(scope, stack)}{op_type}_{count}"


def attribute(attributes: AttributeList, name: str) -> Any:
    """The value of the attribute called `name`; None where it is not given."""
    return dict(zip(attributes[::2], attributes[1::2], strict=False)).get(name)


class RecentOps:
    """A log that forgets its oldest ops: all but the last twenty thousand, and those beyond `budget` bytes."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._largest_read = _SMALL
        self._ops: deque[Noted] = deque()
        self._counts: dict[str, int] = {}
        self._made: set[int] = set()  # the ids of tensors that ops gave
        self._released: set[int] = set()  # of those, the ones that are a large variable's own memory
        self._outside: dict[int, Source] = {}
        self._forgotten: dict[int, tuple[Noted, int]] = {}  # by the id of a tensor: the op that gave it, and the slot
        self._written: dict[int, list[tuple[Source, Value]]] = {}  # by the number of the op
        self._updates: dict[int, int] = {}  # by the id of a handle: the number of the op that updated it last
        self._nbytes = 0
        self._scoped = False  # whether an op was in a scope, as those of layers are
        self.forward = ForwardOps()
        self._device = _only_device()
        self.count = 0  # of all ops that were added
        self.dropped = 0

    def keep_all(self, budget: int) -> None:
        """Hold all values from now on, those of large variables as well, as far as `budget` bytes allow."""
        self._budget = self._largest_read = budget

    def __len__(self) -> int:
        return len(self._ops)

    def add(
        self,
        op_type: str,
        inputs: Sequence[OpInput],
        attributes: AttributeList,
        outputs: Sequence[Taken],
        stack: Stack,
    ) -> Noted:
        """Add an op that was given `inputs` and gave `outputs`."""
        made = self._made
        reads: list[int | Source | _OnTheWay] = []
        for given in inputs:
            if type(given) is EagerTensor:
                key = tensor_id(given)
                if key in made:
                    reads.append(key)
                else:
                    source = self._source(given)
                    source.readers += 1
                    reads.append(source)
            else:
                reads.append(self._read(given))
        nbytes = 0
        for key, dtype, value in outputs:
            made.add(key)
            if value is not None:
                nbytes += value.nbytes if dtype != STRING else 64
        if nbytes > self._largest_read and self._shows_a_variable(op_type, reads):
            nbytes = 0
            self._released.update(key for key, _, _ in outputs)
            outputs = [
                (key, dtype, value if value is None else Released(value.shape)) for key, dtype, value in outputs
            ]
        self._counts[op_type] = count = self._counts.get(op_type, -1) + 1
        device = self._device or next((one.device for one in inputs if type(one) is EagerTensor), "")
        scope = self.forward.scope or eager_context().scope_name or ""
        op = self.count, op_type, count, scope, reads, attributes, outputs, stack, device, nbytes
        if scope or self._scoped:
            self._scoped = True
            self.forward.add(op_type, scope, inputs, [key for key, _, _ in outputs])
        self.count += 1
        self._ops.append(op)
        self._nbytes += nbytes
        while len(self._ops) > 1 and (self._nbytes > self._budget or len(self._ops) > _MOST_OPS):
            self._drop()
        return op

    def wrote(self, op: Noted, handle: EagerTensor, value: Value, *, keep: bool) -> None:
        """Note that `op` updated the variable behind `handle`, which now holds `value`; `keep` it, be it large."""
        source = self._source(handle)
        if not keep and not isinstance(value, NoValue) and value.nbytes > self._largest_read:
            value = _LARGE
        self._written.setdefault(op[0], []).append((source, value))
        self._updates[source.key] = op[0]

    def maker(self, key: int) -> tuple[Noted, int] | None:
        """The op that gave the tensor with that id, and the slot; None where it is not known any more."""
        if key not in self._made:
            return None
        for op in reversed(self._ops):
            for slot, (made, _, _) in enumerate(op[6]):
                if made == key:
                    return op, slot
        return None

    def exchange(self, op: Noted, slot: int, tensor: EagerTensor) -> None:
        """Note that the program got `tensor` in place of what `op` gave."""
        outputs = list(op[6])
        outputs[slot] = taken(tensor)
        self._made.add(outputs[slot][0])
        if self._ops and self._ops[-1] is op:
            self._ops[-1] = (*op[:6], outputs, *op[7:])

    def _drop(self) -> None:
        op = self._ops.popleft()
        number, op_type, count, scope, reads, attributes, outputs, stack, device, nbytes = op
        self._nbytes -= nbytes
        for read in reads:
            if isinstance(read, Source):
                self._unread(read)
        self._written.pop(number, None)
        self.dropped += 1
        op = number, op_type, count, scope, [], attributes, [], stack, device, 0  # what it holds is let go of
        for slot, (key, _, _) in enumerate(outputs):
            self._made.discard(key)
            self._released.discard(key)
            self._forgotten[key] = op, slot
        if len(self._forgotten) + len(self._outside) > 4 * len(self._ops) + 1000:
            self._forget_unread()

    def _unread(self, source: Source) -> None:
        """Count off an op that was given `source` and is forgotten; with the last one the value is let go."""
        source.readers -= 1
        if source.readers <= 0 and source.nbytes:
            self._outside.pop(source.key, None)
            self._nbytes -= source.nbytes

    def _forget_unread(self) -> None:
        """Let go of what no op of the log was given."""
        read = [given for op in self._ops for given in op[4]]
        tensors = {given for given in read if isinstance(given, int)}
        sources = {given.key for given in read if isinstance(given, Source)}
        sources |= {given.handle.key for given in read if isinstance(given, _OnTheWay)}
        self._forgotten = {key: made for key, made in self._forgotten.items() if key in tensors}
        self._outside = {key: source for key, source in self._outside.items() if key in sources}

    def _read(self, given: OpInput) -> Source | _OnTheWay:
        handle = getattr(given, "handle", None)
        if type(handle) is not EagerTensor:
            source = Source(given, nbytes=getattr(given, "nbytes", 0), readers=1)
            self._nbytes += source.nbytes
            return source
        self._counts["ReadVariableOp"] = count = self._counts.get("ReadVariableOp", -1) + 1
        return _OnTheWay(self._source(handle), given.dtype.as_datatype_enum, count)

    def _source(self, given: EagerTensor) -> Source:
        key = tensor_id(given)
        found = self._outside.get(key)
        if found is None:
            dtype = dtype_number(given)
            value: Any = weakref.ref(given) if dtype in HANDLES else _array(given)
            nbytes = 0 if dtype in HANDLES or dtype == STRING else value.nbytes
            found = self._outside[key] = Source(value, dtype, key, nbytes)
            self._nbytes += nbytes
        return found

    def _shows_a_variable(self, op_type: str, reads: Sequence[int | Source | _OnTheWay]) -> bool:
        """Whether what an op gives is a variable's own memory."""
        if op_type not in _SAME_MEMORY:
            return op_type == "ReadVariableOp"
        return bool(reads) and reads[0] in self._released

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

    def updated_last(self, source: Source, op: RecentOp) -> bool:
        """Whether `op` is the last that updated the variable."""
        return self._updates.get(source.key, -1) <= op.number

    def ops(self) -> list[RecentOp]:
        """The ops that are still known, the oldest first.

        Those that they read are among them, but for ops that are not known any more, which have no outputs.
        """
        found: list[RecentOp] = []
        made = {key: (_linked(op), slot) for key, (op, slot) in self._forgotten.items()}
        for noted in self._ops:
            op = _linked(noted)
            for read in noted[4]:
                if isinstance(read, _OnTheWay):
                    found.append(_read_on_the_way(op, read))
                    op.inputs.append((found[-1], 0))
                else:
                    op.inputs.append(made[read] if isinstance(read, int) else read)
            op.written = self._written.get(op.number, ())
            found.append(op)
            made.update((key, (op, slot)) for slot, (key, _, _) in enumerate(op.outputs))
        return found


def _linked(noted: Noted) -> RecentOp:
    """The op, still without what it reads."""
    number, op_type, count, scope, _, attributes, outputs, stack, device, _ = noted
    return RecentOp(number, op_type, count, scope, [], attributes, outputs, stack, device)


def _read_on_the_way(op: RecentOp, read: _OnTheWay) -> RecentOp:
    given: Sequence[Taken] = [(0, read.dtype, None)]
    return RecentOp(op.number, "ReadVariableOp", read.count, op.scope, [read.handle], (), given, op.stack, op.device)


@cache
def _only_device() -> str:
    """The name of the only device that there is; empty where there are several."""
    found = tf.config.list_logical_devices()
    return found[0].name.replace("/device:", "/job:localhost/replica:0/task:0/device:", 1) if len(found) == 1 else ""
