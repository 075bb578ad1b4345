"""The insides of the functions that a session's graph calls, as part of the model of the graph."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence

from tfdbg_cli.capture.functions.definition.body import Body
from tfdbg_cli.capture.functions.graph.function_graph import nodes_of
from tfdbg_cli.capture.sessions.wrapped_call import GraphFunctions, called_roots
from tfdbg_cli.capture.tf.tracebacks import TracebacksInside, tracebacks_of
from tfdbg_cli.capture.tf.types import Op, TfGraph
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.sources import Traceback


class CalledFunctions:
    """The functions that ops of one kind of call run, as far as they are known, with the names that a run shows."""

    def __init__(self, graph: TfGraph, order: Sequence[Op]) -> None:
        """Look at the ops in `order` of `graph` (a tf.Graph)."""
        self._graph = graph
        self._functions = GraphFunctions(graph, as_written=True)
        self._roots = called_roots(order, self._functions)
        for op in order:
            if op.name in self._roots:
                self._roots[op.name].stands_for = _tensors_given(op)

    def added_to(self, model: Graph) -> Graph:
        """`model` with the nodes inside each call before the node of the call, which then reads what they give."""
        return Graph(self._nodes(model), model.kind) if self._roots else model

    def tracebacks(self) -> Mapping[str, Traceback]:
        """Where the nodes of the graph and those inside of calls were made."""
        own = tracebacks_of(self._graph)
        return ChainMap(own, TracebacksInside(self._places)) if self._roots else own  # type: ignore[arg-type]

    def _places(self) -> dict[str, tuple[TfGraph, str]]:
        """The graph that a node inside a call is in, and its name there; none if it was imported with the graph."""
        found: dict[str, tuple[TfGraph, str]] = {}
        for scope in (scope for root in self._roots.values() for scope in root.all()):
            graph = self._functions.graphs.get(scope.body.name)
            if graph is not None:
                body = Body(scope.body.definition, {op.name for op in graph.get_operations()})
                found.update({scope.name_of(node): (graph, body.python_name(node)) for node in body.nodes})
        return found

    def _nodes(self, model: Graph) -> Iterator[Node]:
        known = {node.name for node in model}
        for node in model:
            root = self._roots.get(node.name)
            if root is None:
                yield node
                continue
            given = [root.resolve(text) for text in root.body.returns]
            inside = {one.name: one for one in nodes_of(root)}
            own = inside.pop(node.name)
            yield from (one for name, one in inside.items() if name not in known)
            inputs = (*(name for name in given if name.node != node.name), *own.inputs)
            yield node._replace(inputs=tuple(dict.fromkeys(inputs)))


def _tensors_given(op: Op) -> dict[int, TensorName]:
    """The tensors that `op` is given, by position, but for variables: these are known by the names of arguments.

    Of Optionals a conditional gives many, one an output.
    """
    given = enumerate(op.inputs)
    return {at: TensorName(one.op.name, one.value_index) for at, one in given if one.dtype.name != "resource"}
