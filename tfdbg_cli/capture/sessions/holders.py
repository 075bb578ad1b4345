"""Whose variable a handle or a reference in a session's graph is, and which ops may have to do with such things."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tfdbg_cli.capture.tf.op_definitions import definition_of, only_computes
from tfdbg_cli.capture.tf.opaque import is_opaque, is_reference
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.ops.kinds import CHECKS, COPIES, PASSING, PYTHON, RESHAPES, VARIABLES

# What they give shares the memory of what they are given. A Snapshot copies what somebody else holds, too.
HANDING_ON = (COPIES - {"Snapshot"}) | CHECKS | RESHAPES | {"Print"}


def touching(order: Iterable[Op]) -> list[Op]:
    """Those of the ops `order`, inputs first, that may have to do with more than the numbers that they are given.

    All others compute numbers of numbers. They are nearly all ops of a large graph, and whoever asks about state need
    not look at them: they neither hold, read, write nor draw anything, and call nothing.
    """
    leading: dict[str, bool] = {}  # by name, whether what an op gives may lead to state, or share its memory
    found = []
    for op in order:
        given = False
        for tensor in op.inputs:
            giver = tensor.op
            leads = leading.get(giver.name)
            if leads is None:  # past a fed tensor, or the way back of a loop
                leads = any(map(is_opaque, giver.outputs))
            if leads:
                given = True
                break
        leads = (given and op.type in HANDING_ON) or any(map(is_opaque, op.outputs))
        leading[op.name] = leads
        if given or leads or op.type in PYTHON or not only_computes(op.type):
            found.append(op)
    return found


def holder_of(tensor: SymbolicTensor, fed_names: Collection[str]) -> Op:
    """The op that holds the variable to which `tensor` is a handle or a reference; None when it is none's.

    What is fed, one of the tensors called `fed_names`, leads to nobody knows what.
    """
    while tensor.name not in fed_names:
        op = tensor.op
        if op.type in VARIABLES:
            return op
        # What an op like Assign gives is the reference that it was given.
        passing = op.type in PASSING or (is_reference(tensor) and len(op.inputs))
        if not passing:
            return None
        tensor = op.inputs[0]
    return None


def held_by(op: Op, fed_names: Collection[str]) -> tuple[list[tuple[int, Op]], bool]:
    """The variables that `op` is given, with the positions, and whether it is given a handle of something else."""
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
