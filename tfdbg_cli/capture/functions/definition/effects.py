"""The side effects of ops: how they depend on the world outside of a run, or change it.

Everything else in a run follows from its arguments, the values of its variables, and what its source ops draw:
batches of an iterator, random numbers with a state of their own, answers of Python, of tables and of other machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from functools import cache

from tfdbg_cli.capture.functions.definition.called_functions import called_by
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import FunctionDef, NodeDef
from tfdbg_cli.model.walks import depth_first
from tfdbg_cli.ops.effects import Does, does, leaves_variable, takes_handle, updates_variable
from tfdbg_cli.ops.kinds import CALLS, PYTHON


class SideEffect(Enum):
    """What an op has to do with the world outside."""

    NOTHING = auto()
    READ = auto()  # of a variable
    WRITE = auto()  # to a variable; random numbers whose state is a variable, too
    CALL = auto()  # of functions, which may have any of these
    EFFECT = auto()  # it gives nothing back: prints, summaries, queues
    SOURCE = auto()  # it draws what no second run would draw


@cache
def side_effect_of(op_type: str) -> SideEffect:
    """What an op of this type, or a function called by its name, has to do with the world outside."""
    if takes_handle(op_type):
        return SideEffect.READ if leaves_variable(op_type) else SideEffect.WRITE
    definition = compat.op_definition(op_type)
    if op_type in CALLS or definition is None:
        return SideEffect.CALL
    if does(op_type, {Does.FOLLOWS}) or not (definition.is_stateful or op_type in PYTHON):
        return SideEffect.NOTHING
    return SideEffect.SOURCE if definition.output_arg else SideEffect.EFFECT


def writes_variable(op_type: str) -> bool:
    """Whether an op of this type may change the variables whose handles it is given."""
    return side_effect_of(op_type) is SideEffect.WRITE


def type_in_variable(node: NodeDef) -> int | None:
    """The number of the element type of the variables whose handles `node` is given; None if it does not tell."""
    typed = updates_variable(node.op) or leaves_variable(node.op)
    attribute = next((name for name in ("dtype", "T") if typed and name in node.attr), "")
    return node.attr[attribute].type if attribute else None


def drawing_in(name: str) -> str:
    """What draws from outside in the function `name` or in what it calls: `node (op type)`; empty if nothing does."""

    @cache
    def nodes(function: str) -> Sequence[NodeDef]:
        definition = compat.function_definition(function)
        return () if definition is None else definition.node_def

    functions = depth_first([name], lambda one: [called for node in nodes(one) for called in called_by(node)])
    sources = (node for one in functions for node in nodes(one) if side_effect_of(node.op) is SideEffect.SOURCE)
    return next((f"{node.name} ({node.op})" for node in sources), "")


def silence(definition: FunctionDef) -> FunctionDef:
    """`definition` with the nodes that only change the world outside made to do nothing but wait."""
    for node in definition.node_def:
        if side_effect_of(node.op) is SideEffect.EFFECT:
            waits = [text for text in node.input if text.startswith("^")]
            node.op = "NoOp"
            node.ClearField("attr")
            node.ClearField("input")
            node.input.extend(waits)
    return definition
