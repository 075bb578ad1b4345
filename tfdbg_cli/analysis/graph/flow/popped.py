"""What the gradient of a loop takes off a stack: the value that a turn of the loop had put there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tfdbg_cli.analysis.graph.flow.puts import puts_before, puts_by_handle
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import NoValue

# Of an op that takes off a stack the slot of what it took (list_ops.cc; of version 1 data_flow_ops.cc).
POPS = {"TensorListPopBack": 1, "StackPopV2": 0}
_PUSHES, _PUSHED = frozenset({"TensorListPushBack", "StackPushV2"}), 1  # and which of its inputs is put there
_MOST_COMPARED = 1_000  # turns whose values are compared where their order does not tell


def popped(
    node: Node, slot: int, index: int, store: TensorStore, graph: Graph, edges: Callable[[Node], Sequence[Edge]]
) -> tuple[Edge, int] | None:
    """What was put where `node` took the tensor at `index`: the edge, and its place among the tensors.

    The last that was put there is taken first; the values have to be equal. None for other ops, and where none is.
    """
    if POPS.get(node.op_type) != slot:
        return None
    pushes = puts_before(node, edges, _PUSHES, all_of_them=False)
    for push in puts_by_handle(node, graph, edges, _PUSHES) if node.op_type == "StackPopV2" else pushes:
        inputs = edges(push)
        if len(inputs) <= _PUSHED:
            continue
        item = inputs[_PUSHED]
        row = stacked_row(item.tensor, index, store)
        if row is not None:
            return item, row
    return None


def stacked_row(name: TensorName, index: int, store: TensorStore) -> int | None:
    """Which of the tensors `name`, each put onto a stack, is the one at `index`, which was taken off it.

    None where no value is equal, or several are and their order does not tell.
    """
    rows = [row for row in store.named(name.node, name.slot) if row < index]
    place = len(rows) - 1 - store[index].execution
    if 0 <= place < len(rows) and equal_values(store, rows[place], index):
        return rows[place]
    alike = [row for row in rows if equal_values(store, row, index)] if len(rows) <= _MOST_COMPARED else []
    return alike[0] if len(alike) == 1 else None


def equal_values(store: TensorStore, one: int, other: int) -> bool:
    """Whether the tensors at `one` and `other` are equal, NaN to NaN; no if the value of one is lost."""
    a, b = store.value(one), store.value(other)
    if isinstance(a, NoValue) or isinstance(b, NoValue) or a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
