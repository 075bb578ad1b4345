"""Why two runs part where they do, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.difference.compared import DIFFERENT, Verdict
from tfdbg_cli.analysis.difference.comparison import Comparison
from tfdbg_cli.analysis.difference.divergence import InputGap
from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.nodes.feeds import fed_value
from tfdbg_cli.analysis.pairing.families import is_source
from tfdbg_cli.document.array_words import scalar_text
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.runs import Change, Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.effects import draws_numbers
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES, VARIABLE_READS

_SHARED = "Each {} was given something else, but this is to be the same on all."
_NO_MATTER = frozenset({"shared_name", "container", "value", "index", "shape"})  # attributes that the values tell of
_REDUCED = " Was the gradient reduced over the {}s?"


def why(comparison: Comparison, first: Verdict, inputs: Sequence[InputGap]) -> str:
    """Why this is where they part, in a sentence."""
    nodes = [run.graph.find(run.tensors[row].node) for run, row in zip(comparison.runs, first.rows, strict=True)]
    said = _attributes_told(comparison.runs, nodes)
    types = [node.op_type if node is not None else "" for node in nodes]
    is_computed = [node is not None and bool(node.inputs) and not is_source(node.op_type) for node in nodes]
    if types[0] != types[1] and all(types):
        said = f" It is {types[0]} in A, and {types[1]} in B.{said}"
    if all(run.call.kind is RunKind.CHECKPOINT for run in comparison.runs):
        return "The variable holds something else."
    change = comparison.runs[1].change
    if change is not None and comparison.runs[1].tensors[first.rows[1]].name in change.replaced:
        return "`set` gave it this value."
    if change is not None and (held := _variable_set(change, nodes[1])):
        return f"`set` gave the variable {held} another value."
    if all(node is not None and delivers(run.graph, node) for run, node in zip(comparison.runs, nodes, strict=True)):
        return f"It is another batch.{said}"
    if all(map(draws_numbers, types)):
        return f"It draws random numbers, with a state that is not recorded.{said}"
    given = [one for one in inputs if one.given and one.state in DIFFERENT]
    if given:
        return (
            f"The program gave it something else: {'; '.join(_given_text(comparison, one) for one in given)}.{said}"
        )
    follows = any(one.state in DIFFERENT for one in inputs)
    if comparison.peer and follows:  # of two workers, which were given different things
        reduced = _REDUCED if types[0] == UPDATED_VARIABLE else ""
        return f"{(_SHARED + reduced).format(comparison.peer, comparison.peer)}{said}"
    if any(one.other for one in inputs):
        return f"The two ops read different tensors.{said}"
    unknown = [one for one in inputs if one.gap is None]
    if unknown:
        names = [
            f"{one.names[0]} in A, or {one.names[1]} in B" if one.names[0] != one.names[1] else one.names[0]
            for one in unknown
        ]
        them = "it" if len(unknown) == 1 else "they"
        return f"No input that is known differs. {'; '.join(names)} is not recorded: {them} may.{said}"
    if not inputs and any(is_computed):
        return f"The two ops read different tensors.{said}"
    if not inputs:
        if all(one == "Const" for one in types):
            return f"It is a constant of the program.{said}"
        if all(one in VARIABLE_READS | REFERENCE_VARIABLES for one in types):
            return f"It is a variable, as it was before.{said}"
        return f"It comes from outside, or from before: no op computed it here.{said}"
    if follows:
        return f"What it reads differs, but that does not explain as much.{said}"
    if all(one.gap is not None and one.gap.exact for one in inputs):
        zeros = any(one.gap is not None and one.gap.zeros for one in inputs)
        return f"Its inputs are equal {'but for the sign of zeros' if zeros else 'to the last bit'}.{said}"
    return f"Its inputs differ by rounding only, which does not explain as much.{said}"


def _variable_set(change: Change, node: Node | None) -> str:
    """The variable that `node` reads and `set` gave another value; empty if there is none."""
    read = node.inputs[0] if node is not None and node.op_type in VARIABLE_READS and node.inputs else None
    return read.node if read is not None and read in change.replaced else ""


def _attributes_told(runs: Sequence[Run], nodes: Sequence[Node | None]) -> str:
    """Which attributes of both ops differ.

    Of ops that Python ran one by one only those are known that Python named, types by their numbers.
    """
    if nodes[0] is None or nodes[1] is None:
        return ""
    one_by_one = any(run.call.kind is RunKind.EAGER for run in runs)
    told = []
    for key, ours in nodes[0].attributes.items():
        theirs = nodes[1].attributes.get(key, "")
        if key.startswith("_") or key in _NO_MATTER or ours == theirs:
            continue
        if one_by_one and (not ours or not theirs or ours.isdigit() != theirs.isdigit()):
            continue
        told.append(f"{key} is {ours or 'not set'} in A and {theirs or 'not set'} in B")
    return f" Its attributes: {'; '.join(told)}." if told else ""


def _given_text(comparison: Comparison, one: InputGap) -> str:
    """What both runs were given, by their numbers where each is one."""
    name = one.names[0] if one.names[0] == one.names[1] else f"{one.names[0]}, in B {one.names[1]}"
    values = [
        fed_value(run.call.feeds, tensor_name_of(text)) for run, text in zip(comparison.runs, one.names, strict=True)
    ]
    first, second = values
    if first is None or second is None or first.ndim or second.ndim:
        return name
    return f"{name} is {scalar_text(first, {})} in A, and {scalar_text(second, {})} in B"
