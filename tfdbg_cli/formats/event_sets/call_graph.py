"""The graph of a call: that of the function, with those of what it calls, of loops and of branches inside it.

Names are those that other recordings have: of what lies in a loop `while/body/add`, in a branch `cond/true/mul`, in a
function that is called `inner/Log`. A set does not tell which op calls which graph; a loop and a branch are told by
the name of their graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tfdbg_cli.formats.event_sets.set_graphs import SavedFunction, SavedOp, SetGraphs
from tfdbg_cli.formats.event_sets.traces import TraceKey
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.ops.kinds import CASES, CONDITIONS, LOOPS

_PART = re.compile(r"^(?P<op>.+?)_(?P<part>body|cond|true|false|branch\d+)(?:_\d+)*$")
_OPS = {"body": LOOPS, "cond": LOOPS, "true": CONDITIONS, "false": CONDITIONS}
_NO_NAME = re.compile(r"[^A-Za-z0-9_.\\/>-]")  # what a node cannot be called


class CallGraph:
    """The nodes of one call, by the names that its run shows.

    Args:
        graphs: those of the set.
        root: the id of the graph that was called; empty where nobody knows it.
        ran: the ids of the graphs of which something ran, in order.

    """

    def __init__(self, graphs: SetGraphs, root: str, ran: Iterable[str]) -> None:
        self._scopes: dict[str, tuple[str, str]] = {}  # by graph: the scope, and what of its names stands for it
        taken: set[str] = set()
        traced = [graph for graph_id in ran if (graph := graphs.find(graph_id)) is not None]
        first = graphs.find(root)
        shown = [first] if first is not None else []
        shown += [graph for one in traced for graph in graphs.around(one.graph_id)]
        shown += [graph for one in tuple(shown[:1]) for graph in graphs.inside(one.graph_id)]
        self._functions = list({graph.graph_id: graph for graph in shown}.values())
        for graph in self._functions:
            self._add_scope(graphs, graph, root, taken)
        self._ops: dict[str, SavedOp] = {}
        self.graph = Graph(self._nodes(), GraphKind.PYTHON)

    def _add_scope(self, graphs: SetGraphs, graph: SavedFunction, root: str, taken: set[str]) -> None:
        if graph.graph_id in self._scopes:
            return
        if graph.graph_id == root or not graph.name:
            self._scopes[graph.graph_id] = "", ""
            return
        outer = graphs.find(graph.outer) if graph.outer else None
        above, inner = "", ""
        if outer is not None and outer.graph_id != graph.graph_id:
            # A graph may be said to lie in itself by way of others: what is not known yet counts as the top.
            above, inner = self._scopes.get(outer.graph_id, ("", ""))
        scope, dropped = _part_of(outer, graph.name) or (_NO_NAME.sub("_", graph.name) + "/", "")
        if dropped and inner and scope.startswith(inner):
            scope = scope[len(inner) :]
        wanted = scope = above + scope
        number = 0
        while scope in taken:
            number += 1
            scope = f"{wanted[:-1]}_{number}/"
        taken.add(scope)
        self._scopes[graph.graph_id] = scope, dropped

    def _nodes(self) -> Iterable[Node]:
        for graph in self._functions:
            for name, op in graph.ops.items():
                node = self._name(graph.graph_id, name)
                if node not in self._ops:
                    self._ops[node] = op
                    inputs = list(map(tensor_name_of, op.inputs))
                    named = [TensorName(self._name(graph.graph_id, one.node), one.slot) for one in inputs]
                    yield Node(node, op.op_type, "", tuple(named))

    def name(self, key: TraceKey) -> TensorName:
        """What the run calls the tensor of a trace."""
        return TensorName(self._name(key.graph_id, key.op_name), key.slot)

    def _name(self, graph_id: str, op_name: str) -> str:
        scope, dropped = self._scopes.get(graph_id, ("", ""))
        return scope + (op_name.removeprefix(dropped) or op_name)

    @property
    def ops(self) -> Mapping[str, SavedOp]:
        """Where the record of each node lies, by its name."""
        return self._ops


def _part_of(outer: SavedFunction | None, name: str) -> tuple[str, str] | None:
    """The scope of a loop's or branch's graph in `outer`, and the beginning of its names that stands for the op."""
    match = _PART.match(name)
    if match is None or outer is None:
        return None
    types = _OPS.get(match["part"], CASES)
    for op_name, op in outer.ops.items():
        if op.op_type in types and op_name.replace("/", "_") == match["op"]:
            return f"{op_name}/{match['part']}/", f"{op_name}/"
    return None
