"""Checks of tensors in loops and branches of version 1: each adds what it finds to a hidden variable of the session.

Nothing in there can be fetched, but an op in there can be run for its effect: it runs in every turn of the loop, and
not at all in a branch that is not taken. The variable is read and set back after the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.sessions.extended.checks import asked
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX, HiddenOps, NewOp
from tfdbg_cli.capture.sessions.reach import loops_of
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import Op, RawSession, SymbolicTensor
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import CONTROL_FLOW, LOOP_CONDITION
from tfdbg_cli.ops.transparency import CHECKABLE

# What they give is one of the tensors that they are given, which is looked at itself.
_COPIES = CONTROL_FLOW | LOOP_CONDITION | {"Identity"}


@dataclass(frozen=True)
class Inner:
    """A tensor in loops (one of the Enter ops of each, the outermost first), or in branches.

    With `answers` it is itself the answer of checks, those of a call in there.
    """

    tensor: SymbolicTensor
    loops: tuple[Op, ...]
    answers: bool = False


def inner_tensors(
    order: Sequence[Op],
    fetchable: Collection[str],
    fed_names: Collection[str],
    admits: Callable[[SymbolicTensor], bool],
) -> list[Inner]:
    """The tensors of a call that cannot be fetched and have to be checked; mere copies of others have not.

    Args:
        order: the ops that may run, inputs first.
        fetchable: the names of the tensors that are checked otherwise.
        fed_names: tensors whose ops are not asked.
        admits: which tensors to check.

    """
    loops = loops_of(order, fed_names)
    found = []
    for op in order:
        for tensor in op.outputs:
            left = tensor.name in fetchable or tensor.name in fed_names or tensor.dtype != tensor.dtype.base_dtype
            if left or tensor.dtype.name not in CHECKABLE or not admits(tensor):
                continue
            if op.type in _COPIES and all(admits(given) for given in op.inputs if given.dtype == tensor.dtype):
                continue
            found.append(Inner(tensor, loops[op.name]))
    return found


def _adding(handle: SymbolicTensor, answer: SymbolicTensor, _: int) -> list[NewOp]:
    return [NewOp("AssignAddVariableOp", [handle, answer], {"dtype": tf.float32})]


class Sum:
    """A hidden variable to which the checks of a run add what they find; one run at a time uses it."""

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
        """The handle of the variable as the innermost of `loops` sees it."""
        handle = self._handle
        for depth, loop in enumerate(loops):
            attributes = {
                "T": tf.resource, "frame_name": loop.get_attr("frame_name"), "is_constant": True,
                "parallel_iterations": loop.get_attr("parallel_iterations"),
            }  # fmt: skip
            key = (*self._key, *(outer.name for outer in loops[: depth + 1]))
            # Where the loop itself does not run, nothing is to enter it.
            new = NewOp("Enter", [handle], attributes, [loop.inputs[0].op])
            handle = self._entered(key, new)
        return handle

    def _entered(self, key: tuple[object, ...], new: NewOp) -> SymbolicTensor:
        (entered,) = self._hidden.once({key: lambda _: [new]})
        return entered.outputs[0]

    def taken(self, session: RawSession) -> Array:
        """Take the sum, and begin at zero again."""
        place, read, reset, _ = self._ends()
        with INSIDE:
            found: Array = session.run([read.outputs[0], reset], {place.outputs[0]: self._zeros})[0]
            return found

    def clear(self, session: RawSession) -> None:
        """Begin at zero, for the first time or after a run that failed."""
        place, _, _, clear = self._ends()
        with INSIDE:
            session.run(clear, {place.outputs[0]: self._zeros})

    def _ends(self) -> list[Op]:
        """A placeholder, the op that reads the variable, and two that write: one once it was read, one at once."""
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
    """The sums of one session: each is used by one run at a time, however many threads make runs."""

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
