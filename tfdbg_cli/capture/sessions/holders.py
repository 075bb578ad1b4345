"""Finds the variable behind a handle or a reference in a session's graph, and the ops that may use such things."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tfdbg_cli.capture.sessions.graph_ops import GraphOp
from tfdbg_cli.capture.sessions.handles_returned import given_back
from tfdbg_cli.capture.tf.op_definitions import definition_of, only_computes
from tfdbg_cli.capture.tf.opaque import is_opaque, is_reference, leads_elsewhere
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.ops.kinds import CALLS, CHECKS, COPIES, PASSING, PYTHON, RESHAPES, VARIABLES

# Ops whose output may be the memory of their input. A Snapshot is none: it copies memory that others hold.
HANDING_ON = (COPIES - {"Snapshot"}) | CHECKS | RESHAPES | {"Print"}


def touching(ops: Iterable[GraphOp]) -> list[Op]:
    """Those of `ops`, inputs first, that may do more than compute numbers from numbers.

    All others, which are most ops of a large graph, need no look when state is concerned: they neither hold, read,
    write nor draw anything, and call no function.
    """
    leading: dict[Op, bool] = {}  # whether the outputs of an op may be handles, or share memory with state
    found = []
    for op in ops:
        given = False
        for tensor in op.read:
            giver = tensor.op
            leads = leading.get(giver)
            if leads is None:  # not in `ops`, since its output is fed; or later in it, as the way back of a loop
                leads = any(map(is_opaque, giver.outputs))
            if leads:
                given = True
                break
        leads = (given and op.op_type in HANDING_ON) or any(map(leads_elsewhere, op.dtypes))
        leading[op.op] = leads
        if given or leads or op.op_type in PYTHON or not only_computes(op.op_type):
            found.append(op.op)
    return found


def holder_of(tensor: SymbolicTensor, fed_names: Collection[str]) -> Op:
    """The op that holds the variable to which `tensor` is a handle or a reference; None if it is to no variable.

    A tensor that is fed (`fed_names`) may lead to anything, so it counts as leading to none.
    """
    while tensor.name not in fed_names:
        op = tensor.op
        if op.type in VARIABLES:
            return op
        given = _handed_on(tensor)
        if given is None:
            return None
        tensor = given
    return None


def _handed_on(tensor: SymbolicTensor) -> SymbolicTensor | None:
    """The input of its op that `tensor`, a handle or a reference, is; None where it is another thing."""
    op: Op = tensor.op
    # An op like Assign returns the reference that it was given.
    if op.type in PASSING or (is_reference(tensor) and len(op.inputs)):
        return op.inputs[0]
    return given_back(tensor) if op.type in CALLS else None


def held_by(op: Op, fed_names: Collection[str]) -> tuple[list[tuple[int, Op]], bool]:
    """The variables that `op` is given, as pairs of position and holder, and whether it is given other handles."""
    held: list[tuple[int, Op]] = []
    foreign = False
    for position, tensor in enumerate(op.inputs):
        if not is_opaque(tensor) or tensor.dtype.name == "variant":
            continue
        holder = holder_of(tensor, fed_names)
        if holder is None:
            foreign = True
        elif not is_reference(tensor) or _takes_reference(op, position):
            held.append((position, holder))
    return held, foreign


def _takes_reference(op: Op, position: int) -> bool:
    """Whether the input of `op` at `position` is the variable itself, and not its value."""
    for argument in definition_of(op).input_arg:
        if argument.number_attr:
            length = op.get_attr(argument.number_attr)
        elif argument.type_list_attr:
            length = len(op.get_attr(argument.type_list_attr))
        else:
            length = 1
        if position < length:
            return bool(argument.is_ref)
        position -= length
    return False
