"""Eager ops as the log of them holds them: what they read, what they gave, and what the program called them from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.program.places import scope_of_op
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, host_array, tensor_id
from tfdbg_cli.capture.tf.types import AttributeList
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.tensors import gone
from tfdbg_cli.model.values import Value

RESOURCE = tf.resource.as_datatype_enum
STRING = tf.string.as_datatype_enum
_SPECIAL = HANDLE_NUMBERS | {STRING}
CALLED = "called"  # the attribute of an op that is a call of a function, under which one asks for its `Insides`
LATER = gone("The variable is read when somebody looks.")


@dataclass(frozen=True, slots=True)
class Released:
    """In place of a value that is not held because it is the memory of a large variable; has its shape."""

    shape: tuple[int, ...]


# A tensor that an op gave: id, dtype by number, value (an array, a NumPy scalar, `Released`, None of a handle).
Taken: TypeAlias = tuple[int, int, Any]


def taken(tensor: EagerTensor) -> Taken:
    """What the log keeps of a tensor that an op gave."""
    dtype = dtype_number(tensor)
    if dtype in _SPECIAL:
        return tensor_id(tensor), dtype, None if dtype in HANDLE_NUMBERS else array_in(tensor)
    return tensor_id(tensor), dtype, host_array(tensor)


def array_in(tensor: EagerTensor) -> Any:
    """What an eager tensor holds: an array, which may share its memory, or a NumPy scalar."""
    value = host_array(tensor)
    return np.array(value, object) if type(value) is bytes else value  # one string comes as it is


@dataclass(eq=False, slots=True)
class OutsideInput:
    """What an op was given that no op of the log made.

    `given` is an array, a Python value, or a weak reference to the handle of a variable or of something else.
    """

    given: Any
    dtype: int = 0
    key: int = 0  # the id of the tensor that was given; 0 for a Python value
    nbytes: int = 0  # of the value held here; 0 for handles and strings
    readers: int = 0  # how many inputs of ops in the log it is
    number: float | None = None  # Python's, of which TensorFlow made the tensor; looked for if it is not finite
    shows: OnTheWay | None = None  # what was read of a variable, and a tape kept, if it is that


@dataclass(eq=False, slots=True)
class OnTheWay:
    """A variable given to an op that wants a tensor: TensorFlow reads it first, which no listener sees.

    `dtype` is by number, `count` the number of that read among all ReadVariableOps of the log.
    """

    handle: OutsideInput
    dtype: int
    count: int
    value: Any = None  # the value that was read; None: read when somebody looks, if no update came since


class Noted(NamedTuple):
    """An op as the log keeps it while the program runs; cheap to make, since most ops are forgotten unseen.

    Unlike a `RecentOp` it does not refer to other ops: `reads` has the ids of tensors that ops before it gave, and
    whatever came from elsewhere. `number` counts all ops of the log, `nth` those of its type, both from 0. `nbytes`
    is the size of the values that the log holds for it.
    """

    number: int
    op_type: str
    nth: int
    scope: str
    reads: list[int | OutsideInput | OnTheWay]
    attributes: AttributeList
    outputs: Sequence[Taken]
    stack: Stack
    device: str
    nbytes: int

    @property
    def name(self) -> str:
        """The name by which it is shown; see `RecentOp.name`."""
        return _name(self.scope, self.stack, self.op_type, self.nth)

    def holding(self, reads: list[int | OutsideInput | OnTheWay], outputs: Sequence[Taken], nbytes: int) -> Noted:
        """The same op with these `reads` and `outputs`, of which the log holds `nbytes`."""
        return Noted(*self[:4], reads, self.attributes, outputs, self.stack, self.device, nbytes)


Read: TypeAlias = "tuple[RecentOp, int] | OutsideInput"


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
    written: Sequence[tuple[OutsideInput, Value]] = field(
        default_factory=list
    )  # variables, with their values after it

    @property
    def name(self) -> str:
        """The name by which it is shown, such as `dense/MatMul_3`, with the scope of a layer or of gradients."""
        return _name(self.scope, self.stack, self.op_type, self.count)


def _name(scope: str, stack: Stack, op_type: str, count: int) -> str:
    return f"{scope_of_op(scope, stack)}{op_type}_{count}"


def attribute(attributes: AttributeList, name: str) -> Any:
    """The value of the attribute called `name`; None where it is not given."""
    return dict(zip(attributes[::2], attributes[1::2], strict=False)).get(name)


def id_of(read: int | OutsideInput | OnTheWay) -> int:
    """The id of the tensor that was read; 0 where it was none."""
    return read if isinstance(read, int) else read.key if isinstance(read, OutsideInput) else 0


def linked(noted: Noted) -> RecentOp:
    """The op as a `RecentOp`, whose `inputs` are still to be filled in."""
    links: list[Read] = []
    return RecentOp(*noted[:4], links, noted.attributes, noted.outputs, noted.stack, noted.device)


def read_on_the_way(op: RecentOp, read: OnTheWay) -> RecentOp:
    """The read of a variable that TensorFlow made for `op`, as an op of its own."""
    given: Sequence[Taken] = [(0, read.dtype, read.value)]
    return RecentOp(op.number, "ReadVariableOp", read.count, op.scope, [read.handle], (), given, op.stack, op.device)
