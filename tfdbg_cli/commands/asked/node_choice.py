"""Finding the node that a user named."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.analysis.graph.nodes.needed import not_needed_text, was_needed
from tfdbg_cli.commands.asked.name_endings import the_one_ending_in
from tfdbg_cli.commands.asked.patterns import pattern
from tfdbg_cli.commands.asked.result_names import bracketed_result, result_called, split_of
from tfdbg_cli.commands.asked.tensor_choice import split_device
from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import device_matches, did_you_mean, node_of
from tfdbg_cli.model.runs import RunStart


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node, the graph it stands in, and a sentence where that needs saying."""

    node: Node
    graph: Graph
    note: str = ""


def find_node(context: Context, text: str, device: str = "") -> FoundNode:
    """The node called `text` (a node name, a tensor name, or a tensor with a slice) at the stop of `context`.

    The last parts of a name are enough while they fit one node only, and so is what the program calls a result.
    A device may stand before it, as before a tensor. A node that the optimizer left out of the runtime graph is found
    in the program's graph, with a note.

    Raises:
        TfdbgError: there is none, or none on a device that matches `device`.

    """
    prefix, text = split_device(text)
    device = device or prefix
    with_brackets, _ = bracketed_result(context.call, text)
    name = node_of(result_called(context.call, with_brackets) or split_of(context.call, text)[0])
    graph = context.graph
    if name not in graph and not isinstance(context.stop, RunStart):
        python_graph = context.run.python_graph
        if python_graph is not None and name in python_graph:
            why = (
                f"this run did not compute it, {not_needed_text(context.run)}"
                if was_needed(context.run, name) is False
                else "the optimizer removed, folded or renamed it"
            )
            note = f"Not in the {graph.kind}: {why}."
            return FoundNode(_on_device(python_graph, name, device), python_graph, note)
    if name not in graph:
        result = node_of(result_called(context.call, name))
        name = result if result in graph else the_one_ending_in(name, graph.names(), "nodes")
    if name not in graph:
        near = did_you_mean(name, filter(None, context.call.names_of_fetches), graph.names())
        hint = near or "`ln` lists the nodes."
        raise TfdbgError(f"There is no node {name!r} in this {graph.kind}.", hint=hint)
    return FoundNode(_on_device(graph, name, device), graph, _elsewhere(graph, name, device))


def _on_device(graph: Graph, name: str, device: str) -> Node:
    nodes = graph.all_named(name)
    if not device or not nodes:
        return graph.node(name)
    wanted = pattern(device)
    for node in nodes:
        if device_matches(node.device, device) or wanted.search(node.device):
            return node
    where = " and ".join(node.device for node in nodes)
    raise TfdbgError(f"There is no node {name!r} on a device like {device!r}.", hint=f"It is on {where}.")


def _elsewhere(graph: Graph, name: str, device: str) -> str:
    others = [node.device for node in graph.all_named(name)[1:]] if not device else []
    return f"A node of this name is also on {' and '.join(others)}; choose with --device." if others else ""
