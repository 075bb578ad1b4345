"""Stopping code that runs eagerly where a user asked for it: after a step, at a place, at a breakpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.analysis.places import PlaceTest
from tfdbg_cli.capture.runs.eager.log.noted_ops import Noted, Taken
from tfdbg_cli.capture.runs.eager.ops import leaves
from tfdbg_cli.capture.runs.eager.program.places import builds, counts, driven, program_at
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, line_at
from tfdbg_cli.capture.runs.eager.program.turn import Turn
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import unobserved
from tfdbg_cli.capture.tf.types import EagerTensor, OpInput, OpOutputs
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import STEPS, Pace, Sought
from tfdbg_cli.model.values import Array

_READ = "ReadVariableOp"  # is part of the op that wants the value, and no step of its own


@dataclass(frozen=True)
class _From:
    """Where a step begins: the thread, the op's stack, turn and scope.

    `depth` is the depth of the program's call in the stack that lines are stepped in, 1 for the outermost call.
    """

    thread: int
    stack: Stack
    turn: Turn | None
    scope: str
    depth: int


class Pauses:
    """Decides at which ops to stop, and remembers the last one, where the next step begins."""

    def __init__(self) -> None:
        self._sought: Sought | None = None
        self._places: list[tuple[PlaceTest, str]] = []
        self._from: _From | None = None
        self._within: _From | None = None
        self._at = 0  # the last instruction offset seen in the call in which the step began

    def why(
        self,
        sought: Sought,
        op: Noted,
        inputs: Sequence[OpInput],
        outputs: Sequence[Taken],
        stack: Stack,
        turn: Turn | None,
        *,
        named: bool = False,
    ) -> str:
        """Why to stop behind `op`, in words; empty where the program is to go on.

        `named` says that it runs in a call that is a run by its name, as a step of Keras may be.
        """
        if sought is not self._sought:
            self._take(sought)
        if not counts(stack) or builds(stack) or (driven(stack) and not named):
            return ""
        self._within = None
        if sought.pace is not None and op.op_type != _READ and self._is_reached(sought.pace, op, stack, turn):
            # Steps by line stay in the call where stepping began: what a line calls is part of that line.
            self._within = self._from if sought.pace is Pace.LINE else None
            return f"a step to the next {STEPS[sought.pace]}"
        for test, words in self._places:
            if _is_at(test, op, inputs, outputs, stack):
                return words
        return ""

    def paused(self, op: Noted, stack: Stack, turn: Turn | None) -> None:
        """Note that the program is stopped right after `op`: the next step begins there."""
        depth = _depth(stack) if self._within is None else min(_depth(stack), self._within.depth)
        self._from = _From(threading.get_ident(), stack, turn, op.scope, depth)
        self._at = stack[1 - 2 * depth]

    def found(self, op: Noted, stack: Stack, turn: Turn | None) -> None:
        """As `paused`, where a watch stopped at `op`: a step by line may then begin in another call."""
        self._within = None
        self.paused(op, stack, turn)

    def _take(self, sought: Sought) -> None:
        self._sought = sought
        self._places = [(PlaceTest(one.place), str(one)) for one in sought.breakpoints]
        if sought.place is not None:
            self._places.append((PlaceTest(sought.place), f"`until {sought.place}`"))

    def _is_reached(self, pace: Pace, op: Noted, stack: Stack, turn: Turn | None) -> bool:
        begun = self._from
        if begun is None or pace is Pace.OP:
            return begun is None or begun.thread == threading.get_ident()
        if begun.thread != threading.get_ident():
            return False
        if pace is Pace.OUT and begun.scope:
            return not op.scope.startswith(begun.scope)
        if len(stack) < 2 * begun.depth or not _same_caller(stack, begun):
            return True
        if pace is Pace.OUT:  # a call from the same place; of another turn of a loop around it, it is another call
            return begun.turn is not None and begun.depth >= begun.turn.depth and turn is not begun.turn
        at = -2 * begun.depth
        code, now, before = stack[at], stack[at + 1], begun.stack[at + 1]
        back, self._at = now < self._at, now  # going back means that an inner loop comes to the same line again
        return turn is not begun.turn or back or line_at(code, now) != line_at(code, before)


def _depth(stack: Stack) -> int:
    """How deep the innermost call of the program is, 1 for the outermost call of all."""
    return len(stack) // 2 - (program_at(stack) or 0) // 2


def _same_caller(stack: Stack, begun: _From) -> bool:
    """Whether the op is still in the call of the program in which the step began, as far as the stacks tell."""
    at = -2 * begun.depth
    outer = at + 2 or None
    return stack[at] is begun.stack[at] and (outer is None or stack[outer:] == begun.stack[outer:])


def _is_at(test: PlaceTest, op: Noted, inputs: Sequence[OpInput], outputs: Sequence[Taken], stack: Stack) -> bool:
    if test.asks_lines:
        inner = program_at(stack)
        if inner is None or not test.fits_line(stack[inner].co_filename, line_at(stack[inner], stack[inner + 1])):
            return False
    elif not test.fits_op(op.op_type, op.name):
        return False
    gave = [np.asarray(value) for _, _, value in outputs if value is not None]
    return test.holds(gave, lambda: [array for array in map(_array, inputs) if array is not None])


def _array(given: OpInput) -> Array | None:
    """The numbers that an op was given; None for a handle, or what holds no numbers."""
    if type(given) is compat.EagerTensor:
        return None if compat.dtype_number(given) in HANDLE_NUMBERS else np.asarray(compat.host_array(given))
    if isinstance(given, tf.Variable):
        return np.asarray(compat.host_array(compat.read_variable(given.handle, given.dtype.as_datatype_enum)))
    try:
        return np.asarray(given, dtype=None if isinstance(given, np.ndarray) else np.float64)
    except (TypeError, ValueError):
        return None


@dataclass(eq=False)
class PausedOp:
    """The op behind which the program stands (`model.pausing.Replaceable`); `outputs` are as TensorFlow gave them."""

    op: Noted
    outputs: OpOutputs
    why: str = ""
    handles: Mapping[str, Callable[[], EagerTensor | None]] = field(
        default_factory=dict
    )  # of variables, by their names
    replaced: dict[int, EagerTensor] = field(default_factory=dict)  # by slot
    written: dict[TensorName, Array] = field(
        default_factory=dict
    )  # what variables held that were given another value

    def __post_init__(self) -> None:
        self._tensors = list(leaves(self.outputs))

    @property
    def node(self) -> str:
        return self.op.name

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.handles)

    def value(self, name: TensorName) -> Array:
        if name.node == self.node and name.slot < len(self._tensors):
            return np.asarray(compat.host_array(self.replaced.get(name.slot, self._tensors[name.slot])))
        handle = self._handle(name)
        return np.asarray(compat.host_array(compat.read_variable(handle, compat.type_in_variable(handle) or 0)))

    def replace(self, name: TensorName, value: Array) -> None:
        if name.node == self.node and name.slot < len(self._tensors):
            self.replaced[name.slot] = _in_place_of(self._tensors[name.slot], value)
        else:
            held = np.array(self.value(name))
            self._assign(name, value)
            self.written.setdefault(name, held)

    @property
    def pending(self) -> tuple[TensorName, ...]:
        return tuple(TensorName(self.node, slot) for slot in self.replaced)

    def take_back(self, name: TensorName) -> None:
        if name in self.written:
            self._assign(name, self.written[name])
            del self.written[name]
        else:
            self.replaced.pop(name.slot, None)

    def assigned(self) -> Iterator[tuple[EagerTensor, EagerTensor, Array]]:
        """The handles of the variables that were given another value, with that value and what they held before."""
        for name, held in self.written.items():
            yield self._handle(name), compat.eager_tensor(self.value(name)), held

    def let_go(self) -> OpOutputs:
        """Give back the outputs as TensorFlow gave them, and hold them no longer: the program goes on."""
        outputs, self.outputs = self.outputs, None
        self._tensors.clear()
        self.written.clear()
        return outputs

    def _assign(self, name: TensorName, value: Array) -> None:
        with unobserved():
            tf.raw_ops.AssignVariableOp(resource=self._handle(name), value=compat.eager_tensor(value))

    def _handle(self, name: TensorName) -> EagerTensor:
        handle = self.handles[name.node]() if name.node in self.handles else None
        if handle is None:
            known = ", ".join([f"{self.node}:{slot}" for slot in range(len(self._tensors))] + list(self.handles))
            raise TfdbgError(
                f"{name} is not what the program is given next: it has it already, or has not come to it.",
                hint=f"These can: {known}.",
            )
        return handle


def _in_place_of(tensor: EagerTensor, value: Array) -> EagerTensor:
    """A tensor that holds `value`, with the gradient that `tensor` has: a tape takes one for the other."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def other(given: EagerTensor) -> Any:
        return tf.constant(value, given.dtype), lambda upstream: upstream

    with tf.device(tensor.device):
        return other(tensor)


def exchanged(outputs: OpOutputs, replaced: Mapping[int, EagerTensor]) -> OpOutputs:
    """`outputs` of an op with those in `replaced` exchanged, whose keys are positions in the flattened list."""
    counter = iter(range(len(list(leaves(outputs)))))

    def each(value: OpOutputs) -> OpOutputs:
        if isinstance(value, (list, tuple)):
            return type(value)(map(each, value))
        slot = next(counter)
        return replaced.get(slot, value)

    return each(outputs) if replaced else outputs
