"""The ops that put something where another op takes it from: a list, an array or a stack of tensors.

Loops of TensorFlow 2 hand a list on from op to op; those of version 1 name an array or a stack by a handle.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from tfdbg_cli.analysis.graph.nodes.neighbours import Edge
from tfdbg_cli.model.graph import LOOP_VARIABLE, Graph, Node
from tfdbg_cli.model.walks import depth_first
from tfdbg_cli.ops.kinds import LOOPS, MERGE, SAME_VALUE, UNPACKS

_HANDLE_ON = SAME_VALUE.keys() | MERGE
# A gradient adds up the lists of all turns.
_LIST_ON = _HANDLE_ON | UNPACKS | {LOOP_VARIABLE, "If", "StatelessIf", "TensorListResize", "AddN"}
_MOST_NODES = 200
PUTS: Mapping[str, tuple[int, bool]] = {
    "TensorListSetItem": (2, False), "TensorListPushBack": (1, False), "TensorListFromTensor": (0, True),
    "TensorArrayWriteV3": (2, False), "TensorArrayScatterV3": (2, True),
}  # fmt: skip
"""Ops that put an item into a list (list_ops.cc, data_flow_ops.cc): which input it is, and whether that has all."""

Edges = Callable[[Node], Sequence[Edge]]


def puts_before(node: Node, edges: Edges, puts: Container[str], *, all_of_them: bool) -> Iterator[Node]:
    """The ops of the types `puts` that put something into the list that `node` reads, followed back from op to op.

    `all_of_them` asks also for those that had put something there before another one did.
    """

    def given_by(edge: Edge) -> Sequence[Edge]:
        maker = edge.node
        if maker is None:
            return ()
        if maker.op_type in puts:
            return edges(maker)[:1] if all_of_them else ()
        if maker.op_type in LOOPS:  # what its body gave for it
            return edges(maker)[edge.tensor.slot : edge.tensor.slot + 1]
        return edges(maker) if maker.op_type in _LIST_ON else ()

    for edge in depth_first(edges(node)[:1], given_by, most=_MOST_NODES):
        if edge.node is not None and edge.node.op_type in puts:
            yield edge.node


def puts_by_handle(node: Node, graph: Graph, edges: Edges, puts: Container[str]) -> Iterator[Node]:
    """The ops of the types `puts` that put something into the array or onto the stack whose handle `node` reads."""
    handle: Node | None = node
    for _ in range(_MOST_NODES):
        edge = next(iter(edges(handle)), None) if handle is not None else None
        handle = None if edge is None else edge.node
        if handle is None or handle.op_type not in _HANDLE_ON:
            break
    if handle is None:
        return
    waiting, met = [handle.name], {handle.name}
    while waiting and len(met) < _MOST_NODES:
        giver = waiting.pop()
        for reader, slot in graph.consumers(giver):
            if reader.name in met or (slot and giver == handle.name):  # of an array the other output is its flow
                continue
            met.add(reader.name)
            if reader.op_type in puts:
                yield reader
            elif reader.op_type in _HANDLE_ON:
                waiting.append(reader.name)
