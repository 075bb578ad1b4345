"""A graph walked from one node along its inputs or outputs, every node told once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tfdbg_cli.analysis.graph.nodes.neighbours import Neighbours, neighbours_of
from tfdbg_cli.model.graph import Graph, Node


class Direction(Enum):
    """Which way to go."""

    INPUTS = auto()
    OUTPUTS = auto()


class StepMark(Enum):
    """What a step adds to what was told."""

    FIRST = auto()  # the node in full, its own neighbours follow
    ABOVE = auto()  # told in full further up
    BELOW = auto()  # told in full further down, where it is nearer to the start
    CUT = auto()  # told, but its neighbours lie beyond the depth


@dataclass(frozen=True, slots=True)
class Hop:
    """One line of the walk: how far from the start (1: a direct neighbour), which node, along what edge.

    `op_type` is empty for a name that the graph does not hold.
    """

    depth: int
    name: str
    op_type: str
    device: str
    control: bool
    mark: StepMark


_Key = tuple[str, str]  # name and device
_Arm = tuple[_Key, str, bool]  # the neighbour, its op type, whether along a control edge


class _Walk:
    """The edges met within `depth` of the start, and for each node the edge under which it is told in full."""

    def __init__(self, edges: Neighbours, graph: Graph, direction: Direction, control: bool) -> None:
        self._edges = edges
        self._graph = graph
        self._direction = direction
        self._control = control
        self.arms: dict[_Key, list[_Arm]] = {}
        self.home: dict[_Key, tuple[_Key, int]] = {}

    def spread(self, start: Node, depth: int) -> None:
        """Walk from the start, nearest nodes first, so that each is told at the shortest way to it."""
        root = (start.name, start.device)
        self.home[root] = (root, -1)
        queue: deque[tuple[Node, int]] = deque([(start, 0)])
        while queue:
            node, far = queue.popleft()
            key = (node.name, node.device)
            arms = self.arms[key] = []
            for i, (name, far_node, control) in enumerate(self._next(node)):
                other = (name, far_node.device if far_node else "")
                arms.append((other, far_node.op_type if far_node else "", control))
                if other not in self.home:
                    self.home[other] = (key, i)
                    if far_node is not None and far + 1 < depth:
                        queue.append((far_node, far + 1))

    def has_more(self, key: _Key) -> bool:
        """Whether a node at the edge of the walk has neighbours that were left out."""
        node = self._graph.find(key[0], key[1]) or self._graph.find(key[0])
        return node is not None and any(True for _ in self._next(node))

    def _next(self, node: Node) -> Iterator[tuple[str, Node | None, bool]]:
        """Neighbours of `node`, each once: (name, node, whether along a control edge)."""
        met: set[tuple[str, str, bool]] = set()
        for name, other, control in self._all_next(node):
            key = (name, other.device if other else "", control)
            if key not in met:
                met.add(key)
                yield name, other, control

    def _all_next(self, node: Node) -> Iterator[tuple[str, Node | None, bool]]:
        if self._direction is Direction.INPUTS:
            for edge in self._edges.inputs(node):
                yield edge.tensor.node, edge.node, False
            for name in self._edges.control_inputs(node) if self._control else ():
                yield name, self._graph.find(name, node.device) or self._graph.find(name), True
            return
        for edge in self._edges.outputs(node):
            if edge.node is not None:
                yield edge.node.name, edge.node, False
        for other in self._edges.control_outputs(node) if self._control else ():
            yield other.name, other, True


def walk(graph: Graph, start: Node, direction: Direction, *, depth: int, control: bool = False) -> list[Hop]:
    """The neighbourhood of `start` up to `depth` edges away, as an indented outline.

    Every edge gives one step and every node is told in full once, where it is nearest to the start, so the
    outline is as long as the edges are many, whatever the number of paths.
    """
    found = _Walk(neighbours_of(graph), graph, direction, control)
    found.spread(start, depth)
    root = (start.name, start.device)
    steps: list[Hop] = []
    told: set[_Key] = {root}
    stack: list[tuple[_Key, int]] = [(root, 0)]
    while stack:
        key, i = stack.pop()
        arms = found.arms[key]
        if i >= len(arms):
            continue
        stack.append((key, i + 1))
        other, op_type, control_edge = arms[i]
        mark = _mark(found, told, key, i)
        steps.append(Hop(len(stack), other[0], op_type, other[1], control_edge, mark))
        if mark in (StepMark.FIRST, StepMark.CUT):
            told.add(other)
        if mark is StepMark.FIRST and other in found.arms:
            stack.append((other, 0))
    return steps


def _mark(found: _Walk, told: set[_Key], key: _Key, i: int) -> StepMark:
    other = found.arms[key][i][0]
    if other in told:
        return StepMark.ABOVE
    if found.home[other] != (key, i):
        return StepMark.BELOW
    if other not in found.arms and found.has_more(other):
        return StepMark.CUT
    return StepMark.FIRST
