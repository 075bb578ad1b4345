"""What an input pipeline gave within a run, wherever it was handed on: the data itself, nothing computed of it."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.graph.call_results import branch_results
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import BRANCHES, MOVES, PIPELINE_OPS, SAME_VALUE

_MOST_FOLLOWED = 1_000  # tensors, on the way from the pipeline


def is_drawn(graph: Graph, tensor: TensorName) -> bool:
    """Whether `tensor` is what a pipeline gave, or a part of it.

    A conditional may stand between: `next(iterator)` asks whether there is another batch.
    """

    def handed_on(one: TensorName) -> Sequence[TensorName]:
        node = graph.find(one.node)
        if node is None or node.op_type in PIPELINE_OPS:
            return ()
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

    met = reached([tensor], handed_on, most=_MOST_FOLLOWED)
    return any((node := graph.find(one.node)) is not None and node.op_type in PIPELINE_OPS for one in met)
