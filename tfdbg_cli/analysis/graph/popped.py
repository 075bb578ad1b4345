"""What the gradient of a loop takes off a stack: the value that a turn of the loop had put there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tfdbg_cli.analysis.graph.neighbours import Edge
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.kinds import LOOPS

# Of an op that takes off a stack the slot of what it took (list_ops.cc; of version 1 data_flow_ops.cc).
POPS = {"TensorListPopBack": 1, "StackPopV2": 0}
_PUSHES, _PUSHED = frozenset({"TensorListPushBack", "StackPushV2"}), 1  # and which of its inputs is put there
_HANDLE_HANDED_ON = frozenset({"Enter", "RefEnter", "Identity", "Switch", "Merge", "NextIteration"})
_HANDS_ON = frozenset({"LoopVariable", "Identity", "Merge"})
_MOST_NODES = 200
_MOST_COMPARED = 1_000  # turns whose values are compared where their order does not tell


def popped(
    node: Node, slot: int, index: int, store: TensorStore, graph: Graph, edges: Callable[[Node], Sequence[Edge]]
) -> tuple[Edge, int] | None:
    """What was put where `node` took the tensor at `index`: the edge, and its place among the tensors.

    The last that was put there is taken first; the values have to be equal. None for other ops, and where none is.
    """
    if POPS.get(node.op_type) != slot:
        return None
    pushes = _pushes_by_handle if node.op_type == "StackPopV2" else _pushes
    for push in pushes(node, graph, edges):
        inputs = edges(push)
        if len(inputs) <= _PUSHED:
            continue
        item = inputs[_PUSHED]
        rows = [row for row in store.named(item.tensor.node, item.tensor.slot) if row < index]
        place = len(rows) - 1 - store[index].execution
        if 0 <= place < len(rows) and _equal(store, rows[place], index):
            return item, rows[place]
        if len(rows) > _MOST_COMPARED:
            continue
        alike = [row for row in rows if _equal(store, row, index)]
        if len(alike) == 1:
            return item, alike[0]
    return None


def _pushes(node: Node, _: Graph, edges: Callable[[Node], Sequence[Edge]]) -> Iterator[Node]:
    """The ops that put something on the stack that `node` reads."""
    waiting, met = list(edges(node)[:1]), 0
    seen: set[str] = set()
    while waiting and met < _MOST_NODES:
        edge, met = waiting.pop(), met + 1
        maker = edge.node
        if maker is None or f"{edge.tensor}" in seen:
            continue
        seen.add(f"{edge.tensor}")
        if maker.op_type in _PUSHES:
            yield maker
        elif maker.op_type in _HANDS_ON:
            waiting.extend(edges(maker))
        elif maker.op_type in LOOPS:
            waiting.extend(edges(maker)[edge.tensor.slot : edge.tensor.slot + 1])  # what its body gave for it


def _pushes_by_handle(node: Node, graph: Graph, edges: Callable[[Node], Sequence[Edge]]) -> Iterator[Node]:
    """The ops that put something on the stack whose handle `node` reads."""
    handle: Node | None = node
    for _ in range(_MOST_NODES):
        edge = next(iter(edges(handle)), None) if handle is not None else None
        handle = None if edge is None else edge.node
        if handle is None or handle.op_type not in _HANDLE_HANDED_ON:
            break
    if handle is None:
        return
    waiting, met = [handle.name], {handle.name}
    while waiting and len(met) < _MOST_NODES:
        for reader, _ in graph.consumers(waiting.pop()):
            if reader.name in met:
                continue
            met.add(reader.name)
            if reader.op_type in _PUSHES:
                yield reader
            elif reader.op_type in _HANDLE_HANDED_ON:
                waiting.append(reader.name)


def _equal(store: TensorStore, one: int, other: int) -> bool:
    a, b = store.value(one), store.value(other)
    if isinstance(a, NoValue) or isinstance(b, NoValue) or a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
