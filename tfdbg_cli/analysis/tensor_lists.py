"""Lists of tensors, in which loops gather what their turns made (tf.TensorArray): what went in, what came out.

Loops of TensorFlow 2 hand a list on from op to op; those of version 1 name it by a handle.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.analysis.lineage import SAME_VALUE, Lineage
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run

# Where the item stands among the inputs of an op that puts it into a list (list_ops.cc, data_flow_ops.cc), and
# whether it is a whole list at once.
_PUTS = {
    "TensorListSetItem": (2, False), "TensorListPushBack": (1, False), "TensorListFromTensor": (0, True),
    "TensorArrayWriteV3": (2, False), "TensorArrayScatterV3": (2, True),
}  # fmt: skip
# Ops that take out of a list, and whether they take all of it.
_TAKES = {
    "TensorListStack": True, "TensorListGetItem": False, "TensorListPopBack": False, "TensorArrayGatherV3": True,
    "TensorArrayReadV3": False,
}  # fmt: skip
_PASSES_ON = frozenset(
    {"LoopVariable", "Merge", "RefMerge", "While", "StatelessWhile", "If", "StatelessIf", "TensorListResize"}
)
_MOST_NODES = 100


def items_of_list(lineage: Lineage, node: Node, index: int, axis: int) -> Iterator[tuple[int, int]]:
    """The tensors, each with an axis, whose rows became those along `axis` of what `node` took out of a list."""
    if node.op_type not in _TAKES:
        return
    # A stack has the list as its first axis; so has a tensor that was made a list.
    stacked = _TAKES[node.op_type]
    item_axis, whole_axis = (axis - 1, axis) if stacked else (axis, axis + 1)
    for put in _puts(lineage, node):
        position, whole = _PUTS[put.op_type]
        along = whole_axis if whole else item_axis
        inputs = lineage.inputs_before(put, index)
        item = inputs[position] if position < len(inputs) else None
        if along >= 0 and item is not None and item.index is not None:
            yield item.index, along


def put_into_list(run: Run, lineage: Lineage, index: int) -> Iterator[int]:
    """The tensors that were put into the list out of which that at `index` was taken; nothing of other tensors.

    Those of all turns are among them, and where a loop hands on several lists, what was put into the others may be.
    """
    node = lineage.node(index)
    if node is None or node.op_type not in _TAKES:
        return
    for put in _puts(lineage, node):
        for item in lineage.inputs_before(put, index)[_PUTS[put.op_type][0] :][:1]:
            if item.index is not None:
                name = run.tensors[item.index].name
                yield from (row for row in run.tensors.named(name.node, name.slot) if row < index)


def _puts(lineage: Lineage, node: Node) -> Iterator[Node]:
    """The ops that put something into the list that `node` reads."""
    return _puts_by_handle(lineage, node) if "Array" in node.op_type else _puts_before(lineage, node)


def _puts_before(lineage: Lineage, node: Node) -> Iterator[Node]:
    """The ops that put something into the list that `node` reads, followed back from op to op."""
    waiting = [edge.node for edge in lineage.edges(node)[:1]]
    met: set[str] = set()
    while waiting and len(met) < _MOST_NODES:
        maker = waiting.pop()
        if maker is None or maker.name in met:
            continue
        met.add(maker.name)
        if maker.op_type in _PUTS:
            yield maker
            waiting += [edge.node for edge in lineage.edges(maker)[:1]]
        elif maker.op_type in _PASSES_ON or maker.op_type in SAME_VALUE:
            waiting += [edge.node for edge in lineage.edges(maker)]


def _puts_by_handle(lineage: Lineage, node: Node) -> Iterator[Node]:
    """The ops that put something into the array whose handle `node` reads."""
    handle: Node | None = node
    for _ in range(_MOST_NODES):
        edges = lineage.edges(handle) if handle is not None else []
        if not edges:
            break
        handle = edges[0].node
        if handle is not None and handle.op_type not in SAME_VALUE:
            break
    if handle is None:
        return
    graph = lineage.graph_of(node)
    waiting, met = [handle.name], {handle.name}
    while waiting and len(met) < _MOST_NODES:
        for reader, slot in graph.consumers(waiting.pop()):
            if reader.name in met or slot != 0:
                continue
            met.add(reader.name)
            if reader.op_type in _PUTS:
                yield reader
            elif reader.op_type in SAME_VALUE:
                waiting.append(reader.name)
