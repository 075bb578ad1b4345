"""Checks of tensors by ops in the graph: one number says whether something was found in any of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.questions import Question
from tfdbg_cli.capture.session.call_state import Variable
from tfdbg_cli.capture.session.hidden_ops import HiddenOps, NewOp, Operand

_SUMMARY = "DebugNumericSummaryV2"
_SUMMARIZED = frozenset({tf.float16, tf.bfloat16, tf.float32, tf.float64})
_PARTS = {tf.complex64: tf.float32, tf.complex128: tf.float64}


def health_of(hidden: HiddenOps, question: Question, tensors: Sequence[Any]) -> Any:
    """A tensor that answers `question` for all `tensors` of the graph; None when there are none."""
    makers = {(question, tensor.name): partial(asked, hidden, question, tensor) for tensor in tensors}
    answers = [op.outputs[0] for op in hidden.once(makers)]
    if not answers:
        return None
    (health,) = hidden.once({tuple(makers): lambda _: [_sum(answers)]})
    return health.outputs[0]


def read_after_updates(hidden: HiddenOps, variables: Sequence[Variable]) -> list[Any]:
    """The values of `variables` after the ops of the call that write them."""
    makers = {
        (variable.name, *(op.name for op in variable.writers)): partial(_read, variable, variable.writers)
        for variable in variables
    }
    return [op.outputs[0] for op in hidden.once(makers)]


def read_before(hidden: HiddenOps, variables: Sequence[Variable]) -> list[Any]:
    """The values of `variables` in a run of their own."""
    makers = {(variable.name,): partial(_read, variable, ()) for variable in variables}
    return [op.outputs[0] for op in hidden.once(makers)]


def _read(variable: Variable, after: Sequence[Any], _: int) -> list[NewOp]:
    device = variable.op.device
    if variable.reference:
        return [NewOp("Identity", [variable.tensor], {"T": variable.dtype}, after, device)]
    return [NewOp("ReadVariableOp", [variable.tensor], {"dtype": variable.dtype}, after, device)]


def asked(hidden: HiddenOps, question: Question, tensor: Any, at: int) -> list[NewOp]:
    """The ops that answer for one tensor; they are added at `at`."""
    kind = tensor.dtype.base_dtype
    device = tensor.op.device
    new: list[NewOp] = []
    operand: Operand = tensor
    if kind in _PARTS:
        part = _PARTS[kind]
        new.append(NewOp("Bitcast", [tensor], {"T": kind, "type": part}, (), device))
        kind, operand = part, hidden.name_of(at)
    elif kind not in _SUMMARIZED:  # 8 bits: the cast is exact
        new.append(NewOp("Cast", [tensor], {"SrcT": kind, "DstT": tf.float32}, (), device))
        kind, operand = tf.float32, hidden.name_of(at)
    attributes = {"T": kind, "output_dtype": tf.float32, "tensor_debug_mode": question.mode, "tensor_id": 0}
    return [*new, NewOp(_SUMMARY, [operand], attributes, (), device)]


def _sum(answers: Sequence[Any]) -> NewOp:
    return NewOp("AddN", answers, {"T": tf.float32, "N": len(answers)})
