"""What lies between two nodes: the shortest way along which a value got from one to the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tfdbg_cli.analysis.graph.nodes.neighbours import Edge, Neighbours, neighbours_of
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.walks import nearest_first

NodeOnDevice: TypeAlias = tuple[str, str]  # the name of a node and its device


@dataclass(frozen=True, slots=True)
class Way:
    """A way from the first of `nodes` to the last; `edges` are those between them, one fewer.

    `around` is how many nodes lie on any way between the two, both included.
    """

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    around: int


def shortest_way(graph: Graph, start: Node, end: Node) -> Way | None:
    """The way with the fewest edges along which data flows from `start` to `end`; None where there is none."""
    edges = neighbours_of(graph)
    came: dict[NodeOnDevice, tuple[NodeOnDevice, Edge]] = {}
    nodes: dict[NodeOnDevice, Node] = {_place(start): start}
    goal = _place(end)
    behind = set()
    for place, _ in nearest_first([_place(start)], lambda place: _readers(place, edges, nodes, came)):
        behind.add(place)
    if goal not in behind:
        return None
    found: list[Edge] = []
    at = goal
    while at != _place(start):
        at, edge = came[at]
        found.append(edge)
    found.reverse()
    way = [start, *(edge.node for edge in found if edge.node is not None)]
    before = {place for place, _ in nearest_first([goal], lambda place: _makers(place, edges, nodes, behind))}
    return Way(way, found, len(before & behind))


def _place(node: Node) -> NodeOnDevice:
    return node.name, node.device


def _readers(
    place: NodeOnDevice,
    edges: Neighbours,
    nodes: dict[NodeOnDevice, Node],
    came: dict[NodeOnDevice, tuple[NodeOnDevice, Edge]],
) -> Iterator[NodeOnDevice]:
    for edge in edges.outputs(nodes[place]):
        if edge.node is not None:
            reader = _place(edge.node)
            nodes.setdefault(reader, edge.node)
            came.setdefault(reader, (place, edge))
            yield reader


def _makers(
    place: NodeOnDevice, edges: Neighbours, nodes: dict[NodeOnDevice, Node], within: set[NodeOnDevice]
) -> Iterator[NodeOnDevice]:
    for edge in edges.inputs(nodes[place]):
        if edge.node is not None and _place(edge.node) in within:
            yield _place(edge.node)
