"""What an input pipeline gave within a run, wherever it was handed on: the data itself, nothing computed of it."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.making.handed_on import handed_on
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName


def is_drawn(graph: Graph, tensor: TensorName) -> bool:
    """Whether `tensor` is what a pipeline gave, or a part of it."""
    met = handed_on(graph, tensor)
    return any((node := graph.find(one.node)) is not None and delivers(graph, node) for one in met)
