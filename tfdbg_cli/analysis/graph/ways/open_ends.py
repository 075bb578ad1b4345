"""Where a graph does not tell what flows in: a recording may lack edges, as from a call to the function called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdbg_cli.analysis.graph.nodes.neighbours import neighbours_of
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import nearest_first
from tfdbg_cli.ops.kinds import PLACEHOLDERS


def open_ends(run: Run, graph: Graph, node: Node) -> Sequence[str]:
    """The nodes that `node` is made of, itself included, into which something flows that `graph` has no edge for.

    These are names that are read and that it does not have, and in a call of a function the inputs of others that
    nothing leads to and that `run` was not given; the nearest first. Elsewhere what has no input comes from outside.
    """
    edges = neighbours_of(graph)
    call = run.call
    given = {node_of(name) for name in (*call.feeds, *(argument.name for argument in call.arguments))}
    nodes: dict[tuple[str, str], Node | None] = {(node.name, node.device): node}

    def makers(place: tuple[str, str]) -> Iterator[tuple[str, str]]:
        found = nodes[place]
        for edge in () if found is None else edges.inputs(found):
            maker = edge.node
            there = (edge.tensor.node, "") if maker is None else (maker.name, maker.device)
            nodes.setdefault(there, maker)
            yield there

    def is_open(place: tuple[str, str]) -> bool:
        found = nodes[place]
        if found is None:
            return True
        is_input = found.op_type in PLACEHOLDERS and found.name not in given
        return is_input and call.kind is RunKind.FUNCTION

    return [place[0] for place, _ in nearest_first(list(nodes), makers) if is_open(place)]
