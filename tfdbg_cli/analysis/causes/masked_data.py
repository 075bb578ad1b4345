"""Bad data that a tf.where keeps from the result, but not from the gradient, which multiplies it by 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfdbg_cli.analysis.graph.lineage import Lineage
from tfdbg_cli.analysis.graph.makers import PIPELINE_OPS
from tfdbg_cli.analysis.graph.roles import is_gradient
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.kinds import INPUTS, SELECTS


def masked_in_forward(
    run: Run, lineage: Lineage, given: Node | None, rows: Sequence[int], bad: Callable[[int], bool]
) -> str:
    """The tf.where that hides what is made of the data `given`, where gradients alone are spoiled; else empty.

    `rows` are the tensors that are bad, in order of execution.
    """
    if given is None or given.op_type not in INPUTS | PIPELINE_OPS:
        return ""
    graph = lineage.graph_of(given)
    if not any(is_gradient(graph, run.tensors[row].node) for row in rows):
        return ""
    for row in rows:
        tensor = run.tensors[row]
        for reader, slot in graph.consumers(tensor.node):
            if reader.op_type not in SELECTS or slot != tensor.slot or is_gradient(graph, reader.name):
                continue
            turns = [i for i in run.tensors.named(reader.name) if run.tensors[i].execution == tensor.execution]
            if tensor.name in reader.inputs[1:] and turns and not any(map(bad, turns)):
                return reader.name
    return ""
