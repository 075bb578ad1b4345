"""What the graphs of a run tell of their nodes, whatever values there are."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.flow.unpacked import unpacked
from tfdbg_cli.analysis.graph.flow.updates_within import before
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge, neighbours_of
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.effects import takes_handle, updates_variable
from tfdbg_cli.ops.kinds import INPUTS, VARIABLES

VARIABLE_OPS = VARIABLES | {"TemporaryVariable", "_VarHandlesOp"}


class NodeFacts:
    """The nodes of the graphs of one run: what each reads, and which are variables."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._before: dict[tuple[str, str], frozenset[str]] = {}  # by reader and variable, what wrote that before
        self._captured = frozenset(argument.name for argument in run.call.arguments if argument.captured)
        self._given = frozenset(argument.name for argument in run.call.arguments if not argument.captured)

    @property
    def graphs(self) -> list[Graph]:
        """The graphs of the run: what ran, and the program's own where that is another one."""
        return [self._run.graph, *([self._run.python_graph] if self._run.python_graph is not None else [])]

    def graph_of(self, node: Node) -> Graph:
        """The graph of the run that `node` belongs to."""
        graphs = self.graphs
        return next((graph for graph in graphs if graph.find(node.name, node.device) is node), graphs[0])

    def edges(self, node: Node) -> list[Edge]:
        """What `node` reads, in the graph it belongs to; where it reads an Optional, what was put into that."""
        for graph in self.graphs:
            if graph.find(node.name, node.device) is node:
                packed = [one.edge for one in unpacked(graph, node)]
                return packed or neighbours_of(graph).inputs(node)
        return []

    def node(self, index: int) -> Node | None:
        """The node that made the tensor at `index`, if a graph of the run holds it."""
        tensor = self._run.tensors[index]
        for graph in self.graphs:
            found = graph.find(tensor.node, tensor.device) or graph.find(tensor.node)
            if found is not None:
                return found
        return None

    def takes_out(self, node: Node) -> bool:
        """Whether `node` takes a value out of an Optional into which another op of the run had put it."""
        return bool(unpacked(self.graph_of(node), node))

    def delivers(self, node: Node) -> bool:
        """Whether `node` gives what an input pipeline delivered."""
        return delivers(self.graph_of(node), node)

    def is_captured(self, node: Node) -> bool:
        """Whether `node` is a capture of the function: a variable, or a tensor of an enclosing scope."""
        return node.name in self._captured

    @property
    def captured(self) -> frozenset[str]:
        """The names of the function's captures."""
        return self._captured

    def is_variable(self, node: Node) -> bool:
        """Whether `node` is a variable: of a graph, or one that a function or the forward function of it captured."""
        if node.op_type in VARIABLE_OPS:
            return True
        forward = bool(self._given) and node.name not in self._given
        if node.op_type not in INPUTS or not (forward or self.is_captured(node)):
            return False
        readers = self.graph_of(node).consumers(node.name)
        return any(takes_handle(reader.op_type) or reader.op_type == UPDATED_VARIABLE for reader, _ in readers)

    def writers(self, node: Node) -> list[Node]:
        """The ops that write the variable `node`."""
        readers = (reader for reader, _ in self.graph_of(node).consumers(node.name))
        return [reader for reader in readers if updates_variable(reader.op_type) and reader.inputs]

    def updates_before(self, read: Node, variable: Node) -> frozenset[str]:
        """The names of the ops that certainly write `variable` in this run before the op `read` reads it."""
        key = read.name, variable.name
        if key not in self._before:
            writers = [writer.name for writer in self.writers(variable)]
            self._before[key] = before(self.graphs, read.name, writers) if writers else frozenset()
        return self._before[key]

    def has_namesakes(self, node: Node) -> bool:
        """Whether nodes on other devices bear its name; else what bears it is its, wherever a replay has run it."""
        return any(len(graph.all_named(node.name)) > 1 for graph in self.graphs)
