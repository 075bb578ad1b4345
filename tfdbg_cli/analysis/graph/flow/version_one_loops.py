"""The loops of version 1 that the nodes of a run's graph are in, and the ways back of those loops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tfdbg_cli.model.graph import Graph, Node, once_per_graph
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.control_flow import Edges, nests
from tfdbg_cli.ops.kinds import ENTER, MERGE, NEXT_ITERATION

_CONTEXT = re.compile(r"/while_context(_\d+)?$")  # what tf.while_loop adds to its scope for the name of the frame


@dataclass(frozen=True, slots=True)
class Within:
    """A loop that an op is in: what it is called, and how many of the branches inside of it are around the op."""

    loop: str
    branches: int = 0


Frame = tuple[Within, ...]  # the loops around an op, the outermost first


@once_per_graph
def frames_of(graph: Graph) -> Mapping[str, Frame]:
    """The frame of each op of `graph`, by name, that is in a loop of version 1; an Enter stands before its loop."""
    if ENTER.isdisjoint(graph.distinct_op_types()):
        return {}
    edges = Edges(
        lambda name: _type(graph, name), lambda name: _needs(graph, name), lambda name: _loop(graph, name)
    )  # fmt: skip
    found = nests(needs_first(list(graph.names()), lambda name: _needs_before(graph, name)), edges)
    frames = ((name, nest[1:-1] if _type(graph, name) in ENTER else nest[1:]) for name, nest in found.items())
    return {name: tuple(Within(loop.frame, loop.branches) for loop in frame) for name, frame in frames if frame}


def is_way_back(node: Node, read: Node) -> bool:
    """Whether `node`, a Merge, begins a turn of a loop with what the turn before has left, which `read` gives."""
    return node.op_type in MERGE and read.op_type in NEXT_ITERATION


def _type(graph: Graph, name: str) -> str:
    node = graph.find(name)
    return "" if node is None else node.op_type


def _loop(graph: Graph, name: str) -> str:
    """What the loop is called that the Enter `name` leads into."""
    node = graph.find(name)
    frame = "" if node is None else node.attributes.get("frame_name", "")
    return _CONTEXT.sub("", frame) or name.rpartition("/")[0]


def _needs(graph: Graph, name: str) -> Iterable[str]:
    return (source for node in graph.all_named(name) for source in node.needs)


def _needs_before(graph: Graph, name: str) -> Iterable[str]:
    """What the op `name` needs, but for what comes by the way back of a loop."""
    for node in graph.all_named(name):
        read = ((source, graph.find(source)) for source in node.needs)
        yield from (source for source, found in read if found is None or not is_way_back(node, found))
