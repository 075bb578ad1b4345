"""The ways back of the loop around a tensor: from one turn to the next, and gone no more often than it has turned."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.flow.turns import LoopTurns
from tfdbg_cli.analysis.graph.flow.version_one_loops import is_way_back
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge
from tfdbg_cli.model.graph import LOOP_VARIABLE, Node
from tfdbg_cli.model.runs import Run


class WaysBack:
    """How often a way to the tensor at one row of `run` may have come by the way back of the loop around it."""

    def __init__(self, run: Run, lineage: Lineage, row: int | None) -> None:
        """Without a `row`, or where its turn is not known, as often as it likes."""
        self._turns = LoopTurns(run.graph, run.tensors)
        self._lineage = lineage
        self._before = None if row is None else self._turns.turns_before(row)

    def gone(self, node: Node, edge: Edge, so_far: int) -> int | None:
        """How often a way has gone back that did so `so_far` times, and goes on from `node` by its input `edge`.

        None where no value came by that edge so often.
        """
        if self._before is None or not self._goes_back(node, edge):
            return so_far
        loop, turns = self._before
        if self._turns.innermost_loop(node.name) != loop:
            return so_far
        return so_far + 1 if so_far < turns else None

    def _goes_back(self, node: Node, edge: Edge) -> bool:
        if node.op_type == LOOP_VARIABLE:
            return edge in self._lineage.edges(node)[1:]
        return edge.node is not None and is_way_back(node, edge.node)


def begins_turns(node: Node, lineage: Lineage) -> bool:
    """Whether `node` gives a variable of a loop, as it is when a turn begins."""
    if node.op_type == LOOP_VARIABLE:
        return True
    return any(edge.node is not None and is_way_back(node, edge.node) for edge in lineage.edges(node))
