"""Which variables of a graph are updated by gradients, and not counters, metrics and what else a step keeps."""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.analysis.graph.nodes.roles import Role, roles_of
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.updates import after_update
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import TRUTHS


class TrainedVariables:
    """The variables of one graph that are updated by gradients, be it through what an optimizer keeps of them.

    A metric is updated by none. Neither is a loss scale, which goes by whether they are finite and not by what they
    are. In a graph without gradients nothing tells.
    """

    def __init__(self, graph: Graph, *, eager: bool) -> None:
        """`eager` says that its ops ran one by one, so that no edges tell which read comes behind which update."""
        self._graph, self._eager = graph, eager
        self._gradients = {name for name, role in roles_of(graph).items() if role is Role.GRADIENT}
        self._known: dict[str, bool] = {}

    def may_hold(self, handle: str) -> bool:
        """Whether the node called `handle` is the handle of such a variable, or nothing tells of any."""
        if not self._gradients:
            return True
        if handle not in self._known:
            followed = reached(self._given_to(handle), self._inputs)
            self._known[handle] = any(name in self._gradients for name in followed)
        return self._known[handle]

    def _given_to(self, handle: str) -> Iterator[str]:
        """The nodes that give the variable of `handle` what it holds after the run."""
        shown = self._graph.find(after_update(handle))
        writers = (node for node, _ in self._graph.consumers(handle) if updates_variable(node.op_type))
        for node in (*writers, *([] if shown is None else [shown])):
            yield from (read.node for read in node.inputs if read.node != handle)

    def _inputs(self, name: str) -> Iterator[str]:
        node = self._graph.find(name)
        if node is None or node.op_type in TRUTHS:
            return
        yield from (read.node for read in node.inputs)
        if node.op_type != "ReadVariableOp":
            return
        if self._eager and node.inputs:
            yield from self._given_to(node.inputs[0].node)
        for writer in self._updates_before(node):
            yield from (read.node for read in writer.inputs)

    def _updates_before(self, read: Node) -> Iterator[Node]:
        """The updates that the read of a variable waits for."""
        waits = map(self._graph.find, read.control_inputs)
        return (node for node in waits if node is not None and updates_variable(node.op_type))
