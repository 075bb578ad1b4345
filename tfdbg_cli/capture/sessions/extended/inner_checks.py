"""Checks of tensors in loops and branches of version 1: each adds what it finds to a hidden variable of the session.

Tensors in there cannot be fetched, but ops can be run as targets: such an op runs in every turn of the loop, and not
at all in a branch that is not taken. The variable is read and set back after the run.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.sessions.extended.checks import asked
from tfdbg_cli.capture.sessions.extended.frontier import Admits
from tfdbg_cli.capture.sessions.graph_ops import GraphOp
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX, HiddenOps, NewOp
from tfdbg_cli.capture.sessions.reach import loops_of
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import Op, RawSession, SymbolicTensor
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import CONTROL_FLOW, LOOP_CONDITION
from tfdbg_cli.ops.transparency import CHECKABLE

# Their outputs are copies of an input, which is checked itself.
_COPIES = CONTROL_FLOW | LOOP_CONDITION | {"Identity"}


@dataclass(frozen=True)
class Inner:
    """A tensor in loops or branches; `loops` has one Enter op for each loop around it, the outermost first.

    With `answers` it is no tensor to check, but the answer that a rewritten call in there gives.
    """

    tensor: SymbolicTensor
    loops: tuple[Op, ...]
    answers: bool = False


def inner_tensors(
    ops: Sequence[GraphOp],
    fetchable: Collection[str],
    fed_names: Collection[str],
    admits: Admits,
) -> list[Inner]:
    """The tensors of a call that must be checked and cannot be fetched, without copies of tensors that are checked.

    Args:
        ops: those that may run, inputs first.
        fetchable: the names of tensors that can be fetched, and so are checked in another way.
        fed_names: tensors whose ops are not asked.
        admits: which tensors to check.

    """
    loops = loops_of([op.op for op in ops], fed_names)
    found = []
    for op in ops:
        for slot, (name, tensor) in enumerate(zip(op.outputs, op.given, strict=True)):
            left = name in fetchable or name in fed_names or tensor.dtype != tensor.dtype.base_dtype
            if left or tensor.dtype.name not in CHECKABLE or not admits(op, slot):
                continue
            copied = [given for given in op.read if given.dtype == tensor.dtype] if op.op_type in _COPIES else []
            if op.op_type in _COPIES and all(admits(GraphOp(given.op), given.value_index) for given in copied):
                continue
            found.append(Inner(tensor, loops[op.name]))
    return found


def _adding(handle: SymbolicTensor, answer: SymbolicTensor, _: int) -> list[NewOp]:
    return [NewOp("AssignAddVariableOp", [handle, answer], {"dtype": tf.float32})]


class Sum:
    """A hidden variable, float32 counts, to which the checks of a run add what they find; for one run at a time."""

    def __init__(self, hidden: HiddenOps, question: Question, number: int) -> None:
        self._hidden = hidden
        self._question = question
        self._zeros = np.zeros(question.width, np.float32)
        self._key = ("sum", hidden.number_of(question), number)
        attributes = {
            "dtype": tf.float32, "shape": tf.TensorShape([question.width]),
            "shared_name": f"{PREFIX}{question.name}.{number}".encode(),
        }  # fmt: skip
        (holder,) = hidden.once({self._key: lambda _: [NewOp("VarHandleOp", (), attributes)]})
        self._handle = holder.outputs[0]

    def checks(self, tensors: Sequence[Inner]) -> list[Op]:
        """The ops that check `tensors` and add to the sum."""
        hidden, question = self._hidden, self._question
        asking = hidden.number_of(question)
        makers = {
            (asking, inner.tensor.name): partial(asked, hidden, question, inner.tensor)
            for inner in tensors
            if not inner.answers
        }
        made = iter(hidden.once(makers))
        answers = [inner.tensor if inner.answers else next(made).outputs[0] for inner in tensors]
        handles = {inner.loops: self._within(inner.loops) for inner in tensors}
        adding = {
            (*self._key, answer.name): partial(_adding, handles[inner.loops], answer)
            for inner, answer in zip(tensors, answers, strict=True)
        }
        return hidden.once(adding)

    def _within(self, loops: Sequence[Op]) -> SymbolicTensor:
        """The handle of the variable, led into `loops` by Enter ops of ours."""
        handle = self._handle
        for depth, loop in enumerate(loops):
            attributes = {
                "T": tf.resource, "frame_name": loop.get_attr("frame_name"), "is_constant": True,
                "parallel_iterations": loop.get_attr("parallel_iterations"),
            }  # fmt: skip
            key = (*self._key, *(outer.name for outer in loops[: depth + 1]))
            # Waits for an input of the loop: if that is not computed the loop does not run, and nothing may enter it.
            new = NewOp("Enter", [handle], attributes, [loop.inputs[0].op])
            handle = self._entered(key, new)
        return handle

    def _entered(self, key: tuple[object, ...], new: NewOp) -> SymbolicTensor:
        (entered,) = self._hidden.once({key: lambda _: [new]})
        return entered.outputs[0]

    def taken(self, session: RawSession) -> Array:
        """Read the sum and set the variable back to zero."""
        place, read, reset, _ = self._ends()
        with INSIDE:
            found: Array = session.run([read.outputs[0], reset], {place.outputs[0]: self._zeros})[0]
            return found

    def clear(self, session: RawSession) -> None:
        """Set the variable to zero, for the first time or after a run that failed."""
        place, _, _, clear = self._ends()
        with INSIDE:
            session.run(clear, {place.outputs[0]: self._zeros})

    def _ends(self) -> list[Op]:
        """Ops that use the variable: a placeholder, a read, a write after the read, a write that does not wait."""
        hidden, handle, key = self._hidden, self._handle, self._key
        dtype = {"dtype": tf.float32}
        place, read = hidden.once(
            {
                (*key, "place"): lambda _: [NewOp("Placeholder", (), dtype)],
                (*key, "read"): lambda _: [NewOp("ReadVariableOp", [handle], dtype)],
            }
        )
        given = [handle, place.outputs[0]]
        reset, clear = hidden.once(
            {
                (*key, "reset"): lambda _: [NewOp("AssignVariableOp", given, dtype, [read])],
                (*key, "clear"): lambda _: [NewOp("AssignVariableOp", given, dtype)],
            }
        )
        return [place, read, reset, clear]


class Sums:
    """A pool of the sums of one session, since several threads may make runs and each run needs its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clean: dict[Question, list[int]] = {}
        self._dirty: dict[Question, list[int]] = {}
        self._count = 0

    def take(self, question: Question) -> tuple[int, bool]:
        """The number of a sum that no run uses, and whether it is at zero."""
        with self._lock:
            if self._clean.get(question):
                return self._clean[question].pop(), True
            if self._dirty.get(question):
                return self._dirty[question].pop(), False
            self._count += 1
            return self._count, False

    def give_back(self, question: Question, number: int, clean: bool) -> None:
        """Take back a sum whose run has ended; `clean` says whether it is at zero again."""
        with self._lock:
            (self._clean if clean else self._dirty).setdefault(question, []).append(number)


_SUMS = Memo(lambda session: Sums())


def sums_of(session: RawSession) -> Sums:
    """The sums of `session`."""
    return _SUMS.of(session)
