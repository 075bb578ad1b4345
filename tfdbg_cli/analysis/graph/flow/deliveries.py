"""Where a batch enters a graph that is not fed: the ops that give what an input pipeline delivered."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.flow.unpacked import unpacked
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.ops.kinds import PIPELINE_OPS


def delivers(graph: Graph, node: Node) -> bool:
    """Whether `node` of `graph` gives what an input pipeline delivered, and no value that the graph itself packed."""
    return node.op_type in PIPELINE_OPS and not unpacked(graph, node)
