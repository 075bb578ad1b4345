"""The copies of its results that a function returns: the program is given them, and nothing is computed from them."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.commands.asked.computed_again import base_of
from tfdbg_cli.commands.asked.tensor_choice import Choice
from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.runs import Run, WhatIf
from tfdbg_cli.model.stepping import StepNode
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.kinds import IDENTITIES


def copied(call: Call, node: Node | StepNode | None) -> TensorName | None:
    """The tensor of which `node` is a copy that the function of `call` returns; None where it is no such copy."""
    if call.kind is not RunKind.FUNCTION or node is None or node.op_type not in IDENTITIES or len(node.inputs) != 1:
        return None
    return node.inputs[0] if str(TensorName(node.name, 0)) in call.fetches else None


def computed_with(run: Run, name: TensorName) -> TensorName | None:
    """What `run` computes with where `name` is such a copy, if it has one value there; None otherwise."""
    source = copied(run.call, run.graph.find(name.node))
    rows = run.tensors.named(source.node, source.slot) if source else ()
    return source if len(rows) == 1 and not isinstance(run.tensors.value(rows[0]), NoValue) else None


def computed_choice(context: Context, what_if: WhatIf, choice: Choice) -> Choice:
    """`choice`, or in the place of a copy that is asked for by the program's name what the run computes with."""
    run, name = context.run, parse_tensor_name(choice.name)
    source = computed_with(run, name) if name and choice.result else None
    if source is None:
        return choice
    try:
        what_if.require_replaceable(context.runs[base_of(context)], source)
    except TfdbgError:
        return choice  # such as what is made within a branch: the copy is replaced, and `said_of` tells of it
    return replace(choice, name=str(source), indices=tuple(run.tensors.named(source.node, source.slot)))


def said_of(run: Run, name: TensorName) -> str:
    """That `name`, which is replaced, is such a copy, or is handed on by some; empty where it is neither."""
    source = copied(run.call, run.graph.find(name.node))
    if source is not None:
        return f"It is the copy that is returned: what else is computed reads {source}, which stays as it was."
    fetched = zip(run.call.results, run.call.names_of_fetches, strict=False)
    handed = [
        f"{tensor} ({called})" if called else tensor
        for tensor, called in fetched
        if copied(run.call, run.graph.find(tensor.rpartition(":")[0])) == name
    ]
    return f"The program is given it by {' and '.join(handed)}, a copy of it that follows." if handed else ""
