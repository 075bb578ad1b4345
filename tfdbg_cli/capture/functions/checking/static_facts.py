"""What is known of the tensors of a function before it runs: shapes, and what the optimizer may fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from tfdbg_cli.capture.functions.definition.body import attribute_of
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.static_values import array_in
from tfdbg_cli.capture.tf.types import NodeDef, TfGraph
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.facts import Facts
from tfdbg_cli.ops.folding import Constant
from tfdbg_cli.ops.op_view import TensorKind
from tfdbg_cli.ops.transparent_shapes import Shape


class FunctionOp:
    """A node of a function (`OpView`); its tensors go by the names that they have in the runs."""

    def __init__(self, scope: Scope, node: NodeDef, shape: Callable[[TensorName], Shape]) -> None:
        """See `node` of the function of `scope`; `shape` gives those of tensors."""
        self._scope = scope
        self._node = node
        self._shape = shape
        self._definition = compat.op_definition(node.op)
        self.op_type = str(node.op)
        self._reads = scope.body.data_inputs(node)
        self._gives = scope.body.outputs(node.name)
        own = scope.name_of(node.name)
        self.inputs: Sequence[TensorName] = list(map(scope.resolve, self._reads))
        self.outputs: Sequence[TensorName] = [TensorName(own, slot) for slot in range(len(self._gives))]

    @property
    def inputs_are(self) -> Sequence[TensorKind]:
        return list(map(self._kind, self.inputs, map(self._scope.body.type_of, self._reads)))

    @property
    def outputs_are(self) -> Sequence[TensorKind]:
        return list(map(self._kind, self.outputs, (output.dtype for output in self._gives)))

    def _kind(self, name: TensorName, dtype: int) -> TensorKind:
        return TensorKind(element_type(dtype).name, self._shape(name))

    @property
    def is_stateful(self) -> bool:
        return self._definition is None or bool(self._definition.is_stateful)

    @property
    def calls_functions(self) -> bool:
        """Whether it is a function that is called by its name: other calls have scopes of their own."""
        return self._definition is None

    @property
    def array(self) -> Any:
        return array_in(attribute_of(self._node, "value")) if self.op_type == "Const" else None

    def attribute(self, name: str) -> Any:
        return attribute_of(self._node, name)


class StaticFacts(Facts[TensorName]):
    """Facts about the tensors in the calls below `root`, by the names that they have in its runs.

    `graphs` are the FuncGraphs of the functions, by name, as far as they are kept. For `constants`, `sources` and
    `merging` see `Facts`.
    """

    def __init__(
        self,
        root: Scope,
        graphs: Mapping[str, TfGraph],
        constants: Mapping[TensorName, Constant | None] = MappingProxyType({}),
        sources: Mapping[TensorName, object] = MappingProxyType({}),
        *,
        merging: bool = False,
    ) -> None:
        super().__init__(constants, sources, merging=merging)
        self._graphs = graphs
        self._shapes: dict[TensorName, Shape] = {}
        self._ops: dict[tuple[Scope, str], FunctionOp] = {}
        self._shapes_in = cache(lambda name: _shapes_in(self._graphs.get(name)))
        self._of_arguments(root)
        self._of_scope(root)

    def shape(self, name: TensorName) -> Shape:
        """The lengths of its dimensions, as far as they are known; None where no FuncGraph is kept that tells it."""
        return self._shapes.get(name)

    def op(self, scope: Scope, node: NodeDef) -> FunctionOp:
        """A node of the function of `scope`, which is no call."""
        return self._ops[scope, node.name]

    def _of_arguments(self, root: Scope) -> None:
        graph = self._graphs.get(root.body.name)
        for name, tensor in zip(root.argument_names, () if graph is None else graph.inputs, strict=False):
            self._shapes[TensorName(name, 0)] = compat.lengths(tensor)

    def _of_scope(self, scope: Scope) -> None:
        graph = self._graphs.get(scope.body.name)
        shapes = self._shapes_in(scope.body.name)
        for position, name in scope.loop_variables.items():
            if graph is not None and position < len(graph.inputs):
                self._shapes[name] = compat.lengths(graph.inputs[position])
        for node in scope.needed.nodes:
            site = scope.calls.get(node.name)
            if site is not None:
                self._of_call(scope, site)
            else:
                op = self._ops[scope, node.name] = FunctionOp(scope, node, self.shape)
                self.learn(op)
            if site is None or site.kind is not CallKind.PLAIN:
                for slot, shape in enumerate(shapes.get(scope.body.python_name(node.name), ())):
                    self._shapes[TensorName(scope.name_of(node.name), slot)] = shape

    def _of_call(self, scope: Scope, site: CallSite) -> None:
        given = list(map(scope.resolve, scope.body.data_inputs(site.node)))
        if site.kind is CallKind.LOOP:
            # A loop that makes no turn gives what it was given.
            for position, variable in site.scopes[1].loop_variables.items():
                if self.constant(given[position]) is not None:
                    self.know_folded(variable)
                    self.know_folded(TensorName(scope.name_of(site.node.name), position))
        for inner in site.scopes:
            self._of_scope(inner)
        if site.kind is CallKind.BRANCH:
            for inner in site.scopes:
                for slot, text in enumerate(inner.body.returns):
                    if self.constant(inner.resolve(text)) is not None:
                        self.know_folded(TensorName(scope.name_of(site.node.name), slot))


def _shapes_in(graph: TfGraph) -> Mapping[str, list[Shape]]:
    if graph is None:
        return {}
    return {op.name: [compat.lengths(tensor) for tensor in op.outputs] for op in graph.get_operations()}
