"""The loops of version 1 that ops are in, told along the edges: there is no op that calls such a loop.

What is between Enter and Exit runs in the turns of the loop, in what TensorFlow calls a frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tfdbg_cli.model.graph import Graph, Node, once_per_graph
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.kinds import ENTER, EXIT, LOOP_CONDITION, MERGE, NEXT_ITERATION, SWITCH

_CONTEXT = re.compile(r"/while_context(_\d+)?$")  # what tf.while_loop adds to its scope for the name of the frame
_MOST_LOOPS = 50  # in one another, in a damaged graph


@dataclass(frozen=True, slots=True)
class Within:
    """A loop that an op is in: what it is called, and how many of the branches inside of it are around the op.

    What is in no branch runs once in each turn of the innermost loop.
    """

    loop: str
    branches: int = 0


Frame = tuple[Within, ...]  # the loops around an op, the outermost first


@once_per_graph
def frames_of(graph: Graph) -> Mapping[str, Frame]:
    """The frame of each op of `graph`, by name, that is in a loop of version 1; an Enter stands before its loop."""
    if ENTER.isdisjoint(graph.distinct_op_types()):
        return {}
    given: dict[str, Frame] = {}  # the frame of what an op gives
    own: dict[str, Frame] = {}
    for name in needs_first(list(graph.names()), lambda name: _sources(graph, name)):
        around = max((given[source] for source in _sources(graph, name) if source in given), key=_depth, default=())
        node = graph.find(name)
        given[name] = around if node is None else _given(graph, node, around)
        own[name] = around if node is not None and node.op_type in ENTER else given[name]
    return {name: frame for name, frame in own.items() if frame}


def is_way_back(node: Node, read: Node) -> bool:
    """Whether `node`, a Merge, begins a turn of a loop with what the turn before has left, which `read` gives."""
    return node.op_type in MERGE and read.op_type in NEXT_ITERATION


def _sources(graph: Graph, name: str) -> Iterable[str]:
    """What the op `name` needs, but for what comes by the way back of a loop."""
    for node in graph.all_named(name):
        read = ((source, graph.find(source)) for source in node.needs)
        yield from (source for source, found in read if found is None or not is_way_back(node, found))


def _depth(frame: Frame) -> tuple[int, int]:
    return len(frame), frame[-1].branches if frame else 0


def _given(graph: Graph, node: Node, around: Frame) -> Frame:
    """The frame of what `node` gives, which reads what is in the frame `around`."""
    if node.op_type in ENTER:
        loop = _CONTEXT.sub("", node.attributes.get("frame_name", "")) or node.name.rpartition("/")[0]
        return (*around, Within(loop))[:_MOST_LOOPS]
    if not around:
        return around
    if node.op_type in EXIT:
        return around[:-1]
    reads = [graph.find(source) for source in node.needs]
    more = 0
    if node.op_type in SWITCH:
        more = 0 if any(read is not None and read.op_type in LOOP_CONDITION for read in reads) else 1
    elif node.op_type in MERGE:
        more = 0 if any(read is not None and is_way_back(node, read) for read in reads) else -1
    innermost = around[-1]
    return (*around[:-1], replace(innermost, branches=max(innermost.branches + more, 0)))
