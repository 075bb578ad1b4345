"""The two graphs of one run beside each other: what the runtime made of the graph that the program built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from tfdbg_cli.analysis.difference.graph_changes import GraphChange, What, graph_changes
from tfdbg_cli.analysis.graph.making.fused_ops import COMPOSITION, composed_names
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.analysis.graph.nodes.needed import needed_nodes
from tfdbg_cli.commands.views.difference.data import graph_data
from tfdbg_cli.commands.views.difference.rows import graph_table
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.labels import label_span
from tfdbg_cli.document.text import EMPTY_LINE, Line, line
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.names import device_matches, node_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import EMPTY_STORE
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.updates import OWN_OPS
from tfdbg_cli.ops.kinds import ENTER

_ARGUMENT = "_Arg"
_TURNS = "parallel_iterations"
_SLOWED = "Loops make one turn after the other (parallel_iterations 1): the dump that shows this graph asks for that."


def has_both_graphs(run: Run) -> bool:
    """Whether the graph as the program built it is known of a run, and the one that ran."""
    return run.python_graph is not None and run.graph.kind is GraphKind.RUNTIME


def own_graphs_document(run: Run) -> Document:
    """Which ops the runtime pruned, folded, fused, moved or added; nodes that the run did not need are left out."""
    python_graph = run.python_graph
    assert python_graph is not None
    needed = needed_nodes(python_graph, run.call)
    written = python_graph if needed is None else _part(python_graph, needed)
    written, slowed = _in_turns(written, run.graph)

    @cache
    def changes() -> list[GraphChange]:
        return list(_changes(run, written))

    def data() -> dict[str, object]:
        counted: dict[str, object] = {"first": None, "different": 0, "equal": 0, "only_a": [], "only_b": []}
        return {**counted, "graphs": graph_data(changes())}

    left_out = len(python_graph) - len(written)
    rows: list[Line] = [
        _labelled("A", f"{run.call.title}: the {python_graph.kind}, {count_text(len(written), 'node')}"),
        _labelled("B", f"{run.call.title}: the {run.graph.kind}, {count_text(_of_the_program(run.graph), 'node')}"),
    ]
    if left_out:
        rows.append(_labelled("", f"Left out of A: {count_text(left_out, 'node')} that the run did not need."))
    if slowed:
        rows.append(_labelled("", _SLOWED))
    table = graph_table(changes(), lambda change: change.second or change.first)
    return Document("diff", (Text((*rows, EMPTY_LINE)), *table), data, "diff --graphs")


def _labelled(label: str, text: str) -> Line:
    return line(label_span(label), text)


def _part(graph: Graph, names: frozenset[str]) -> Graph:
    return Graph([node for node in graph if node.name in names], graph.kind)


def _of_the_program(graph: Graph) -> int:
    """How many nodes of `graph` are not there to show variables after their updates."""
    return len(graph) - sum(op_type in OWN_OPS for _, op_type in graph.op_types())


def _in_turns(written: Graph, ran: Graph) -> tuple[Graph, bool]:
    """`written` with the loops of version 1 as a dump makes them, one turn after the other; whether any are other."""
    slowed = {
        node.name: node._replace(attributes={**node.attributes, _TURNS: now.attributes[_TURNS]})
        for node in written
        if node.op_type in ENTER and (now := ran.find(node.name)) is not None
        if now.attributes.get(_TURNS) == "1" != node.attributes.get(_TURNS)
    }
    if not slowed:
        return written, False
    return Graph([slowed.get(node.name, node) for node in written], written.kind), True


def _changes(run: Run, written: Graph) -> Iterator[GraphChange]:
    """The changes, without moves to the device that the program asked for in fewer words, and without what is fed."""
    before = replace(run, graph=written, tensors=EMPTY_STORE, python_graph=None)
    pairs = [(name, name) for name in written.names() if name in run.graph]
    arguments = [(feed_name(node), node.name) for node in run.graph if node.op_type == _ARGUMENT]
    pairs += [(feed.node, name) for feed, name in arguments if feed is not None and feed.node in written]
    fed = {node_of(name) for name in run.call.feeds}
    composed = _composed(run.graph, written)
    for change in graph_changes(before, run, pairs):
        if change.what is What.MOVED and _is_as_asked(change, written, run.graph):
            continue
        if change.first in fed or (not change.first and change.op_type == _ARGUMENT):
            continue
        into = composed.get(change.first, "")
        if not change.second and into:
            yield replace(change, what=What.FUSED, text=f"into {into}")
        else:
            yield change


def _is_as_asked(change: GraphChange, written: Graph, ran: Graph) -> bool:
    return device_matches(ran.node(change.second).device, written.node(change.first).device)


def _composed(ran: Graph, written: Graph) -> dict[str, str]:
    """By name, the ops that the optimizer put into one that computes several in a row, each with that one's name."""
    compositions = [node for node in ran if node.op_type == COMPOSITION]
    return {name: node.name for node in compositions for name in composed_names(node, written, ran)}
