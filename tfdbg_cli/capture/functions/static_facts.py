"""What is known of the tensors of a function before it runs: shapes, and what the optimizer may fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from tfdbg_cli.capture.functions.definition.body import attribute_of
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.static_values import array_in, dimensions
from tfdbg_cli.capture.tf.types import NodeDef, TfGraph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.folding import UNREAD, Constant, folded
from tfdbg_cli.ops.kinds import COPIES
from tfdbg_cli.ops.transparent_shapes import Shape


class StaticFacts:
    """Facts about the tensors in the calls below `root`, by the names that they have in its runs.

    `graphs` are the FuncGraphs of the functions, by name, as far as they are kept. `outside` are constants that the
    function is given.

    `shape` is None where no FuncGraph is kept that tells it (a function that was loaded). `constant` is what the
    optimizer may take the tensor for. `value` is the array of a Const op.
    """

    def __init__(
        self,
        root: Scope,
        graphs: Mapping[str, Any],
        outside: Mapping[TensorName, Constant] = MappingProxyType({}),
    ) -> None:
        self._graphs = graphs
        self._shapes: dict[TensorName, Shape] = {}
        self._constants: dict[TensorName, Constant] = dict(outside)
        self._sources: dict[TensorName, object] = {}
        self._arrays: dict[TensorName, Any] = {}
        self._shapes_in = cache(lambda name: _shapes_in(self._graphs.get(name)))
        self._of_arguments(root)
        self._of_scope(root)

    def shape(self, name: TensorName) -> Shape:
        """The lengths of its dimensions, as far as they are known."""
        return self._shapes.get(name)

    def constant(self, name: TensorName) -> Constant | None:
        """What the optimizer may take it for; None when it is certainly no constant."""
        return self._constants.get(name)

    def source(self, name: TensorName) -> object:
        """Something that is the same for tensors with the same value: the one of which `name` is another name."""
        return self._sources.get(name, name)

    def value(self, name: TensorName) -> Any:
        """The array of a constant of the graph, or None."""
        return self._arrays.get(name)

    def _of_arguments(self, root: Scope) -> None:
        graph = self._graphs.get(root.body.name)
        for name, tensor in zip(root.argument_names, () if graph is None else graph.inputs, strict=False):
            self._shapes[TensorName(name, 0)] = dimensions(tensor.shape)

    def _of_scope(self, scope: Scope) -> None:
        graph = self._graphs.get(scope.body.name)
        shapes = self._shapes_in(scope.body.name)
        for position, name in scope.loop_variables.items():
            if graph is not None and position < len(graph.inputs):
                self._shapes[name] = dimensions(graph.inputs[position].shape)
        for node in scope.needed.nodes:
            given = [scope.resolve(text) for text in scope.body.data_inputs(node)]
            site = scope.calls.get(node.name)
            if site is not None:
                self._of_call(scope, site, given)
            else:
                self._of_node(scope, node, given)
            if site is None or site.kind is not CallKind.PLAIN:
                for slot, shape in enumerate(shapes.get(scope.body.python_name(node.name), ())):
                    self._shapes[TensorName(scope.name_of(node.name), slot)] = shape

    def _of_node(self, scope: Scope, node: NodeDef, given: Sequence[TensorName]) -> None:
        definition = compat.op_definition(node.op)
        name = TensorName(scope.name_of(node.name), 0)
        if node.op in COPIES and given:
            self._sources[name] = self.source(given[0])
        if definition is None:
            return
        array = array_in(attribute_of(node, "value")) if node.op == "Const" else None
        if array is not None:
            self._arrays[name] = array
        found = folded(node.op, bool(definition.is_stateful), [self._constants.get(one) for one in given], array)
        if found is not None:
            for slot in range(len(scope.body.outputs(node.name))):
                self._constants[TensorName(name.node, slot)] = found

    def _of_call(self, scope: Scope, site: CallSite, given: Sequence[TensorName]) -> None:
        if site.kind is CallKind.LOOP:
            # A loop that makes no turn gives what it was given.
            for position, variable in site.scopes[1].loop_variables.items():
                if given[position] in self._constants:
                    self._constants[variable] = UNREAD
                    self._constants[TensorName(scope.name_of(site.node.name), position)] = UNREAD
        for inner in site.scopes:
            self._of_scope(inner)
        if site.kind is CallKind.BRANCH:
            for inner in site.scopes:
                for slot, text in enumerate(inner.body.returns):
                    if inner.resolve(text) in self._constants:
                        self._constants[TensorName(scope.name_of(site.node.name), slot)] = UNREAD


def _shapes_in(graph: TfGraph) -> Mapping[str, list[Shape]]:
    if graph is None:
        return {}
    return {op.name: [dimensions(tensor.shape) for tensor in op.outputs] for op in graph.get_operations()}
