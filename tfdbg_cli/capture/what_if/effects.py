"""What running an op again would do besides computing."""

from __future__ import annotations

from enum import Enum, auto
from functools import cache

from tfdbg_cli.capture.functions.definition.effects import SideEffect, side_effect_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import OpDef
from tfdbg_cli.ops.effects import Does, does


class RerunEffect(Enum):
    """What running an op again would do."""

    NONE = auto()  # the same numbers again
    READ = auto()  # what a variable holds by now
    WRITE = auto()  # a change of a variable, or a message on the screen
    DRAW_FROM_VARIABLE = auto()  # random numbers whose state is a variable, which moves on
    DRAW = auto()  # something else each time: a batch, random numbers, the answer of Python, another process


WRITES = frozenset({RerunEffect.WRITE, RerunEffect.DRAW_FROM_VARIABLE})
DRAWS = frozenset({RerunEffect.DRAW, RerunEffect.DRAW_FROM_VARIABLE})


@cache
def effect_of(op_type: str) -> RerunEffect:
    """What running an op of this type again would do; what functions do that it calls is not counted."""
    definition = compat.op_definition(op_type)
    if does(op_type, {Does.HOLDS}) or (does(op_type, {Does.SPEAKS}) and definition.output_arg):
        return RerunEffect.NONE
    if definition is not None and any(argument.is_ref for argument in definition.input_arg):
        return _of_references(op_type, definition)
    match side_effect_of(op_type):
        case SideEffect.NOTHING:
            return RerunEffect.NONE
        case SideEffect.READ:
            return RerunEffect.READ
        case SideEffect.WRITE:
            return (
                RerunEffect.DRAW_FROM_VARIABLE
                if definition is not None and definition.output_arg
                else RerunEffect.WRITE
            )
        case SideEffect.EFFECT:
            return RerunEffect.WRITE
        case SideEffect.CALL if definition is not None and not definition.is_stateful:
            return RerunEffect.NONE
        case _:
            return RerunEffect.DRAW


def _of_references(op_type: str, definition: OpDef) -> RerunEffect:
    """The effect of an op on reference variables: one that gives them back has updated them, but for RefIdentity."""
    if op_type.startswith("Ref") or op_type in {"IsVariableInitialized", "Identity"}:
        return RerunEffect.READ
    return RerunEffect.WRITE if any(argument.is_ref for argument in definition.output_arg) else RerunEffect.DRAW
