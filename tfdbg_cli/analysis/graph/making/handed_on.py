"""Tensors whose elements an op hands on as they are, or parts of them: nothing is computed of them on that way."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.graph.flow.call_results import branch_results
from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.flow.unpacked import unpacked
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import BRANCHES, MOVES, SAME_VALUE

_MOST_FOLLOWED = 1_000  # tensors, on the way from the pipeline


def handed_on(graph: Graph, tensor: TensorName) -> Sequence[TensorName]:
    """`tensor` and all that it may be, or be a part of, back to what a pipeline gave.

    A conditional may stand between: `next(iterator)` asks whether there is another batch.
    """

    def given(one: TensorName) -> Sequence[TensorName]:
        node = graph.find(one.node)
        if node is None or delivers(graph, node):
            return ()
        if packed := unpacked(graph, node):
            return [one.edge.tensor for one in packed]
        if node.op_type in BRANCHES:
            positions = branch_results(node, one.slot)
            if positions is None:
                return [result for result in node.inputs if result.node.startswith(f"{node.name}/")]
            return [node.inputs[position] for position in positions]
        if node.op_type in SAME_VALUE:
            position = SAME_VALUE[node.op_type]
            position = one.slot if position is None else position
            return node.inputs[position : position + 1]
        return node.inputs if node.op_type in MOVES else ()

    return list(reached([tensor], given, most=_MOST_FOLLOWED))
