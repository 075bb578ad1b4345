"""A log of the eager ops that ran last, with what they read and gave, as far as memory allows.

Values are held without their tensors, so that a tensor dies when the program lets go of it. What a large variable
held is not kept: as long as somebody has it, TensorFlow copies the variable at its next update.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.log.forward_ops import ForwardOps
from tfdbg_cli.capture.runs.eager.log.noted_ops import (
    STRING,
    Noted,
    OnTheWay,
    OutsideInput,
    RecentOp,
    Released,
    Taken,
    array_in,
    id_of,
    linked,
    read_on_the_way,
)
from tfdbg_cli.capture.runs.eager.log.tape_reads import TapeReads, link_to_reads
from tfdbg_cli.capture.runs.eager.log.updates import Updates
from tfdbg_cli.capture.runs.eager.program.name_scopes import NameScope
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.tf.callers import number_behind
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, read_variable, tensor_id
from tfdbg_cli.capture.tf.types import AttributeList, OpInput
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.tensors import gone
from tfdbg_cli.model.values import Array, NoValue, Value
from tfdbg_cli.ops.kinds import BATCHES, COPIES, RESHAPES

_FLOATS = frozenset(tf.as_dtype(one).as_datatype_enum for one in ("bfloat16", "float16", "float32", "float64"))
_SMALL = 1 << 16  # bytes; what is read of a smaller variable is held even if that makes TensorFlow copy it
# Ops whose output can be the memory of their first input.
_SAME_MEMORY = COPIES | RESHAPES | {"Bitcast"}
_MOST_OPS = 20_000
_MOST_OF_ALL = 200_000  # ops of a log that keeps all
_noted: Callable[[type[Noted], tuple[Any, ...]], Noted] = tuple.__new__  # faster than `Noted(…)`, a call of Python
_LARGE = gone("What the variable held after this update is not kept, for it is large.")


class RecentOps:
    """A log that forgets its oldest ops: all but the last twenty thousand, and those beyond `budget` bytes.

    Where it keeps all (`keep_all`), it keeps two hundred thousand. Where it `holds_reads`, it reads each variable
    that an op is given, and holds what small ones held, since the program may update them before somebody looks.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._largest_read = _SMALL
        self._ops: deque[Noted] = deque()
        self._counts: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)
        self._made: set[int] = set()  # the ids of tensors that ops gave
        self._released: set[int] = set()  # of those, the ones whose memory is that of a large variable
        self._outside: dict[int, OutsideInput] = {}
        self.fresh: set[int] = set()  # ids of arrays from outside whose names nobody has looked up yet
        self._forgotten: dict[int, tuple[Noted, int]] = {}  # by the id of a tensor: the op that gave it, and the slot
        self.updates = Updates()
        self._nbytes = 0
        self._most_ops = _MOST_OPS
        self._most = _MOST_OPS  # the number of the first op for which an old one must be forgotten
        self._keeps_all = False
        self.holds_reads = False
        self._forward = ForwardOps()
        self._forward_from = -1  # the number of the first op that it does not know yet; -1 until one is in a scope
        self._device = _only_device()
        self._tape_reads = TapeReads(_held_now, shared=bool(self._device))
        self._scope = NameScope()
        self._failed: tuple[str, Noted] | None = None  # the op that failed last, and what it said
        self.count = 0  # of all ops that were added
        self.dropped = 0
        self.set_by_hand: set[int] = set()  # the numbers of ops in whose place `set` gave the program a value

    def keep_all(self, budget: int) -> None:
        """Hold all values from now on, those of large variables included, as far as `budget` bytes allow.

        For ops in the log already, what they read of a large variable is read again, unless it was updated since.
        """
        self._budget = self._largest_read = budget
        self._keeps_all = True
        self._most_ops = _MOST_OF_ALL
        self._most = self.dropped + _MOST_OF_ALL
        by_number = {op.number: op for op in self.ops()}
        for at, op in enumerate(self._ops):
            for read in op.reads:
                if isinstance(read, OnTheWay) and not self.updates.is_updated_after(read.handle, op.number - 1):
                    read.value = _variable(read.handle.given(), read.dtype)
            released = any(type(value) is Released for _, _, value in op.outputs)
            source = self.updates.variable_read_by(by_number[op.number]) if released else None
            value = None if source is None else _variable(source.given(), op.outputs[0][1])
            if value is not None:
                key, dtype, shown = op.outputs[0]
                self._released.discard(key)
                held = [(key, dtype, value.reshape(shown.shape))]
                self._ops[at] = op.holding(op.reads, held, value.nbytes)
                self._nbytes += value.nbytes - op.nbytes

    @property
    def computed(self) -> Set[int]:
        """The ids of the tensors that its ops gave, but for batches that came out of an iterator."""
        if BATCHES.isdisjoint(self._counts):
            return self._made
        return self._made - {key for op in self._ops if op.op_type in BATCHES for key, _, _ in op.outputs}

    def given(self, known: Set[int] = frozenset()) -> tuple[Set[int], Mapping[int, Array]]:
        """The ids of what came from outside, batches of an iterator included; its arrays but for those `known`."""
        came = {key: one.given for key, one in self._outside.items() if key not in known}
        if not BATCHES.isdisjoint(self._counts):
            came.update((key, value) for op in self._ops if op.op_type in BATCHES for key, _, value in op.outputs)
        arrays = {key: value for key, value in came.items() if isinstance(value, np.ndarray)}
        return self._outside.keys() | came.keys(), arrays

    def __len__(self) -> int:
        return len(self._ops)

    @property
    def room(self) -> int:
        """How many elements of tensors may wait outside of the log (see `deferred_ops`)."""
        return self._budget // 64

    def scope_now(self) -> str:
        """The name scope of an op that runs now in this thread; inside a gradient, that of the forward op."""
        return self._forward.scope or self._scope.name

    @property
    def forward(self) -> ForwardOps:
        """The ops to which gradients of a tape may belong; those that came since are noted when somebody asks."""
        if 0 <= self._forward_from < self.count:
            new = itertools.takewhile(lambda op: op.number >= self._forward_from, reversed(self._ops))
            for op in reversed([*new]):
                self._note_forward(op)
        return self._forward

    def _note_forward(self, op: Noted) -> None:
        given = [id_of(read) for read in op.reads]
        self._forward.add(op.op_type, op.scope, given, [key for key, _, _ in op.outputs])
        self._forward_from = op.number + 1

    def add(
        self,
        op_type: str,
        inputs: Sequence[OpInput],
        attributes: AttributeList,
        outputs: Sequence[Taken],
        stack: Stack,
        scope: str | None = None,
    ) -> Noted:
        """Add an op that was given `inputs` and gave `outputs`; `scope` is its name scope, by default `scope_now`."""
        made, nbytes = self._made, 0
        reads: list[int | OutsideInput | OnTheWay]
        try:  # mostly ops before have given all of its inputs
            reads = [*map(tensor_id, inputs)]
            if not made.issuperset(reads):
                reads = [key if key in made else self._given(one) for key, one in zip(reads, inputs, strict=True)]
        except AttributeError:  # one is no tensor
            reads = [self._given(one) for one in inputs]
            if self._keeps_all or self.holds_reads:
                nbytes = sum(r.value.nbytes for r in reads if isinstance(r, OnTheWay) and r.value is not None)
        for key, dtype, value in outputs:
            made.add(key)
            if value is not None:
                nbytes += 64 if dtype == STRING else value.nbytes
        if nbytes > self._largest_read and self._shows_a_variable(op_type, reads):
            nbytes = 0
            self._released.update(key for key, _, _ in outputs)
            outputs = [
                (key, dtype, value if value is None else Released(value.shape)) for key, dtype, value in outputs
            ]
        nth = next(self._counts[op_type])
        device = self._device or next((one.device for one in inputs if type(one) is EagerTensor), "")
        if scope is None:
            scope = self._forward.scope or self._scope.name
        self.count = (number := self.count) + 1
        op = _noted(Noted, (number, op_type, nth, scope, reads, attributes, outputs, stack, device, nbytes))
        if scope and self._forward_from < 0:
            self._forward_from = number
        self._ops.append(op)
        self._nbytes = held = self._nbytes + nbytes
        if held > self._budget or number >= self._most:
            self._make_room()
        return op

    def add_failed(
        self,
        message: str,
        op_type: str,
        inputs: Sequence[OpInput],
        attributes: AttributeList,
        stack: Stack,
        scope: str | None = None,
    ) -> None:
        """Note an op that failed and said `message`. It is no part of the log: the program may go on without it."""
        op = self.add(op_type, inputs, attributes, (), stack, scope)
        self._ops.pop()
        self._nbytes -= op.nbytes
        self._counts[op_type] = itertools.count(op.nth)
        self.count = op.number
        self._failed = message, op

    def failed_with(self, message: str) -> Noted | None:
        """The op that failed last, if `message` is that of its error; numbered behind those that ran since."""
        said, op = self._failed or ("", None)
        if op is None or not said or said not in message:  # Keras puts words of its own around it
            return None
        nth = next(self._counts[op.op_type])
        self._counts[op.op_type] = itertools.count(nth)
        return op._replace(number=self.count, nth=nth)

    @property
    def last(self) -> Noted | None:
        """The op that was added last."""
        return self._ops[-1] if self._ops else None

    @property
    def left(self) -> int:
        """The bytes for values that are left of the budget."""
        return max(self._budget - self._nbytes, 0)

    def holds_more(self, op: Noted, nbytes: int) -> None:
        """Note that `op`, the last one, holds `nbytes` of values beside its outputs: those inside of a function."""
        self._ops[-1] = op.holding(op.reads, op.outputs, op.nbytes + nbytes)
        self._nbytes += nbytes

    def wrote(self, op: Noted, handle: EagerTensor, value: Value, *, keep: bool) -> None:
        """Note that `op` updated the variable of `handle` to `value`; with `keep` a large value is held, too."""
        source = self._source(handle)
        if not keep and not isinstance(value, NoValue) and value.nbytes > self._largest_read:
            value = _LARGE
        self.updates.note(op.number, source, value)

    def wrote_unseen(self, op: Noted, handles: Sequence[EagerTensor]) -> None:
        """Note that `op`, a call of a function, may have updated the variables of `handles`: to what is not known."""
        self.updates.note_unseen(op.number, map(tensor_id, handles))

    def maker(self, key: int) -> tuple[Noted, int] | None:
        """The op that gave the tensor with that id, and the slot; None where it is not known any more."""
        if key not in self._made:
            return None
        for op in reversed(self._ops):
            for slot, (made, _, _) in enumerate(op.outputs):
                if made == key:
                    return op, slot
        return None

    def __iter__(self) -> Iterator[Noted]:
        return iter(self._ops)

    def _make_room(self) -> None:
        while len(self._ops) > 1 and (self._nbytes > self._budget or len(self._ops) > self._most_ops):
            self._drop()
        self._most = self.dropped + self._most_ops

    def _drop(self) -> None:
        op = self._ops.popleft()
        self._nbytes -= op.nbytes
        if 0 <= self._forward_from <= op.number:
            self._note_forward(op)
        for read in op.reads:
            if isinstance(read, OutsideInput):
                self._unread(read)
        self.updates.forget(op.number)
        self.dropped += 1
        emptied = op.holding([], [], 0)  # without its values, for ops that still refer to it
        for slot, (key, _, _) in enumerate(op.outputs):
            self._made.discard(key)
            self._released.discard(key)
            self._forgotten[key] = emptied, slot
        if len(self._forgotten) + len(self._outside) > 4 * len(self._ops) + 1000:
            self._forget_unread()

    def _unread(self, source: OutsideInput) -> None:
        """Note that an op which was given `source` is forgotten; after the last such op the value is released."""
        source.readers -= 1
        if source.readers <= 0 and source.nbytes:
            self._outside.pop(source.key, None)
            self._nbytes -= source.nbytes

    def _forget_unread(self) -> None:
        """Forget sources and forgotten ops that no op in the log refers to."""
        read = [given for op in self._ops for given in op.reads]
        tensors = {given for given in read if isinstance(given, int)}
        sources = {given.key for given in read if isinstance(given, OutsideInput)}
        sources |= {given.handle.key for given in read if isinstance(given, OnTheWay)}
        self._forgotten = {key: made for key, made in self._forgotten.items() if key in tensors}
        self._outside = {key: source for key, source in self._outside.items() if key in sources}

    def has_made(self, tensor: EagerTensor) -> bool:
        """Whether an op of the log gave `tensor`."""
        return tensor_id(tensor) in self._made

    def _given(self, given: OpInput) -> int | OutsideInput | OnTheWay:
        """What the log has for an input of an op that it is about to hold."""
        if type(given) is not EagerTensor:
            return self._read(given)
        key = tensor_id(given)
        if key in self._made:
            return key
        source = self._outside.get(key) or self._new_source(given, key)
        source.readers += 1
        return source

    def _read(self, given: OpInput) -> OutsideInput | OnTheWay:
        handle = getattr(given, "handle", None)
        if type(handle) is not EagerTensor:
            source = OutsideInput(given, nbytes=getattr(given, "nbytes", 0), readers=1)
            self._nbytes += source.nbytes
            return source
        count = next(self._counts["ReadVariableOp"])
        dtype = given.dtype.as_datatype_enum
        value = _variable(handle, dtype) if self._keeps_all or self.holds_reads else None
        if value is not None and value.nbytes > self._largest_read:
            value = None
        read = OnTheWay(self._source(handle), dtype, count, value)
        self._tape_reads.note(read, given.shape)
        return read

    def _source(self, given: EagerTensor) -> OutsideInput:
        key = tensor_id(given)
        return self._outside.get(key) or self._new_source(given, key)

    def _new_source(self, given: EagerTensor, key: int) -> OutsideInput:
        dtype = dtype_number(given)
        value: Any = weakref.ref(given) if dtype in HANDLE_NUMBERS else array_in(given)
        nbytes = 0 if dtype in HANDLE_NUMBERS or dtype == STRING else value.nbytes
        found = self._outside[key] = OutsideInput(value, dtype, key, nbytes)
        if dtype in _FLOATS and not value.ndim and not math.isfinite(value):
            found.number = number_behind(value)
        if nbytes:
            found.shows = self._tape_reads.of(dtype, value)
        if (nbytes or dtype == STRING) and value.ndim and found.shows is None:
            self.fresh.add(key)
        self._nbytes += nbytes
        return found

    def _shows_a_variable(self, op_type: str, reads: Sequence[int | OutsideInput | OnTheWay]) -> bool:
        """Whether the output of an op is the memory of a variable, read directly or handed on."""
        if op_type not in _SAME_MEMORY:
            return op_type == "ReadVariableOp"
        return bool(reads) and reads[0] in self._released

    def ops(self, failed: Noted | None = None) -> list[RecentOp]:
        """The ops in the log, oldest first, each linked to the ops that it reads; behind them one that `failed`.

        A link to an op that was dropped from the log leads to one without inputs and outputs, which is not listed.
        """
        found: list[RecentOp] = []
        reads: dict[int, RecentOp] = {}
        made = {key: (linked(op), slot) for key, (op, slot) in self._forgotten.items()}
        for noted in (*self._ops, *([] if failed is None else [failed])):
            op = linked(noted)
            for read in noted.reads:
                if isinstance(read, OnTheWay):
                    found.append(read_on_the_way(op, read))
                    reads[id(read)] = found[-1]
                    op.inputs.append((found[-1], 0))
                else:
                    op.inputs.append(made[read] if isinstance(read, int) else read)
            op.written = self.updates.by(op.number)
            found.append(op)
            made.update((key, (op, slot)) for slot, (key, _, _) in enumerate(op.outputs))
        link_to_reads(found, reads)
        return found


def _variable(handle: EagerTensor | None, dtype: int) -> Any:
    """What the variable behind `handle` holds now, `dtype` by number; None where the variable is gone."""
    return None if handle is None else array_in(read_variable(handle, dtype))


def _held_now(read: OnTheWay) -> Any:
    """What the variable of `read` holds now; None where it is gone."""
    return _variable(read.handle.given(), read.dtype)


@cache
def _only_device() -> str:
    """The name of the only device that there is; empty where there are several."""
    found = tf.config.list_logical_devices()
    return found[0].name.replace("/device:", "/job:localhost/replica:0/task:0/device:", 1) if len(found) == 1 else ""
