"""Checks of tensors by ops in the graph: one number says whether something was found in any of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import tensorflow as tf

from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.questions.recipe import ASKED, BEFORE
from tfdbg_cli.capture.sessions.call_state import UsedVariable
from tfdbg_cli.capture.sessions.hidden_ops import HiddenOps, NewOp, Operand
from tfdbg_cli.capture.sessions.variable_ops import read
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.opaque import dtype_name
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.ops.transparent_shapes import Shape

_TERMS = 16  # of one sum


def summed_answer(
    hidden: HiddenOps, question: Question, tensors: Sequence[SymbolicTensor], known: Sequence[SymbolicTensor] = ()
) -> SymbolicTensor:
    """A hidden tensor with the answer to `question` for all `tensors`, added up; None if there is nothing to add.

    `known` are answers that exist already, as of rewritten calls; they are added, too.
    """
    number = hidden.number_of(question)
    makers: dict[Hashable, Callable[[int], list[NewOp]]] = {
        (number, tensor.name): partial(asked, hidden, question, tensor) for tensor in tensors
    }
    if not makers and not known:
        return None
    asking = tuple(makers)
    # All are added at once: a sum that knows its terms by their names takes less time than one of tensors.
    makers[(*asking, *(answer.name for answer in known))] = lambda at: _sums(
        hidden, [*map(hidden.answer, asking), *known], at
    )
    return hidden.once(makers)[-1].outputs[0]


def read_after_updates(hidden: HiddenOps, variables: Sequence[UsedVariable]) -> list[SymbolicTensor]:
    """Hidden tensors that read `variables` after the ops of the call that write them."""
    makers = {
        (variable.name, *(op.name for op in variable.writers)): partial(_read, variable, variable.writers)
        for variable in variables
    }
    return [op.outputs[0] for op in hidden.once(makers)]


def read_before(hidden: HiddenOps, variables: Sequence[UsedVariable]) -> list[SymbolicTensor]:
    """Hidden tensors that read `variables` without waiting for anything, to be fetched in a run of their own."""
    makers = {(variable.name,): partial(_read, variable, ()) for variable in variables}
    return [op.outputs[0] for op in hidden.once(makers)]


def _read(variable: UsedVariable, after: Sequence[Op], _: int) -> list[NewOp]:
    return [read(variable.tensor, variable.dtype, variable.op.device, after, reference=variable.reference)]


def known_shape(question: Question, tensor: SymbolicTensor) -> Shape:
    """The static shape of `tensor`; None if `question` does not need it, since asking the graph takes long."""
    return compat.lengths(tensor) if question.by_shape else None


def asked(
    hidden: HiddenOps, question: Question, tensor: SymbolicTensor, at: int, before: SymbolicTensor = None
) -> list[NewOp]:
    """The ops that answer `question` for one tensor; the first gets the number `at` among the new ops.

    For a variable, `before` is the tensor with its value before the update.
    """
    new: list[NewOp] = []
    for step in question.steps(dtype_name(tensor), known_shape(question, tensor)):
        inputs = [_operand(hidden, number, tensor, before, at) for number in step.inputs]
        # A constant reads nothing, so it waits for the tensor: that puts it into the same loop or branch.
        waits = () if inputs else (tensor.op,)
        new.append(NewOp(step.op_type, inputs, step.attributes, waits, tensor.op.device if inputs else ""))
    return new


def _operand(hidden: HiddenOps, number: int, tensor: SymbolicTensor, before: SymbolicTensor, at: int) -> Operand:
    if number == ASKED:
        return tensor
    return before if number == BEFORE else hidden.name_of(at + number)


def _sums(hidden: HiddenOps, answers: Sequence[Operand], at: int) -> list[NewOp]:
    """The ops that add up `answers`, `_TERMS` at a time; the last one gives the sum. The first gets the number `at`.

    A single AddN would do, but the time that TensorFlow's optimizer takes grows with the square of its inputs.
    """
    new: list[NewOp] = []
    while not new or len(answers) > 1:
        parts = [answers[first : first + _TERMS] for first in range(0, len(answers), _TERMS)]
        answers = [hidden.name_of(at + len(new) + number) for number in range(len(parts))]
        new.extend(NewOp("AddN", part, {"T": tf.float32, "N": len(part)}) for part in parts)
    return new
