"""What an op of a session's graph calls, rewritten so that it answers for all that it computes inside.

The op is put into a function of its own, which is rewritten with all that it calls (`capture/function/rewrite.py`).
The nodes of that function are what is to run in the place of the op.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tensorflow as tf

from tfdbg_cli.analysis.folding import Constant
from tfdbg_cli.analysis.training_filters import UPDATED_VARIABLE
from tfdbg_cli.capture import compat
from tfdbg_cli.capture.function.definition.body import IMPLEMENTATION, Body, Library, Source, attribute_of
from tfdbg_cli.capture.function.definition.call_tree import ARGUMENT, CallKind, CallTree, Scope
from tfdbg_cli.capture.function.frontier import frontier_of
from tfdbg_cli.capture.function.rewrite import Rewriting
from tfdbg_cli.capture.function.static_facts import StaticFacts
from tfdbg_cli.capture.function.watched_edit import Wanted
from tfdbg_cli.capture.questions import Question
from tfdbg_cli.capture.session.facts import ANYTHING, MAYBE_NOTHING, Facts
from tfdbg_cli.capture.session.own_state import keeps_state
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import FIRST_REFERENCE
from tfdbg_cli.model.names import TensorName

_CALLS = frozenset(
    {
        "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case", "StatelessCase", "While",
        "StatelessWhile",
    }
)  # fmt: skip
_FUNCTIONS = frozenset({"func", "list(func)"})
_OPAQUE = frozenset({"resource", "variant"})
_OUTSIDE = "outside "  # before the name of what a function is given; no name of a node has a space


@dataclass(frozen=True)
class CheckedCall:
    """Nodes that do what an op does and answer the question. `checked` checks stand for `total` tensors.

    They are those of `body`, whose arguments are what the op is given; one has the name of the op and its outputs.
    `definitions` are the functions that they call, as far as they are new.
    """

    body: Body
    definitions: tuple[Any, ...]
    checked: int
    total: int

    @property
    def answer(self) -> Source:
        """The output that is the answer."""
        return self.body.source(self.body.returns[-1])


class GraphFunctions:
    """The functions of a tf.Graph: their definitions, read when they are wanted, and their FuncGraphs."""

    def __init__(self, graph: Any) -> None:
        self.graphs: Mapping[str, Any] = compat.function_graphs(graph)
        self._graph = graph

    def library(self, added: Any) -> Library:
        """The functions, and that of the definition `added`."""
        name = added.signature.name
        return Library(self._operations_of, lambda one: added if one == name else self._definitions.get(one))

    @cached_property
    def _definitions(self) -> dict[str, Any]:
        return {one.signature.name: one for one in self._graph.as_graph_def().library.function}

    def _operations_of(self, name: str) -> Collection[str]:
        graph = self.graphs.get(name)
        return () if graph is None else {op.name for op in graph.get_operations()}


def checked_call(
    op: Any, functions: GraphFunctions, facts: Facts, question: Question, admits: Callable[[str, str, str], bool]
) -> CheckedCall | None:
    """What does what `op` does and answers `question`; None when nothing inside has to be asked.

    Args:
        op: a tf.Operation that calls functions.
        functions: those that its graph has.
        facts: what is known of what it is given.
        question: what is asked of each tensor inside.
        admits: which of them, by the node's name, its op type and the dtype's name.

    Raises:
        TfdbgError: it cannot be done without changing what the op does, or not for all that it calls.

    """
    if op.type not in _CALLS:
        raise TfdbgError(f"tfdbg does not know how a {op.type} calls")
    if any(tensor.dtype != tensor.dtype.base_dtype for tensor in op.inputs):
        raise TfdbgError("it is given a variable of the old kind")
    definition, arguments = _around(op)
    try:
        root = CallTree(functions.library(definition)).grow(definition.signature.name, arguments)
    except (LookupError, RecursionError) as error:
        raise TfdbgError("the definition of what it calls is not at hand") from error
    _require_known(root, op.graph)
    outside = {TensorName(_outside(op, at), 0): tensor for at, tensor in enumerate(op.inputs)}
    root.stands_for = {
        at: TensorName(_outside(op, at), 0) for at, tensor in enumerate(op.inputs) if tensor.dtype.name not in _OPAQUE
    }
    constants = {name: facts.constant(tensor) for name, tensor in outside.items()}
    known = _Facts(
        root,
        {**functions.graphs, definition.signature.name: _Around(op)},
        {name: found for name, found in constants.items() if found is not None},
        {name: facts.source(tensor) for name, tensor in outside.items()},
    )
    elsewhere = {*arguments, *(f"{name}/after_update" for name in arguments)}  # looked at where the session is

    def admitted(node: str, op_type: str, dtype: str) -> bool:
        return not (op_type in (ARGUMENT, UPDATED_VARIABLE) and node in elsewhere) and admits(node, op_type, dtype)

    found = frontier_of(root, known, question, admitted)
    rewriting = Rewriting(b"", wanted=Wanted(question, found, values=False))
    if not rewriting.exposed(root).answers:
        return None
    *definitions, around = rewriting.definitions
    return CheckedCall(Body(around), tuple(definitions), found.checked, found.watched)


def _outside(op: Any, at: int) -> str:
    """What stands for an input of `op`: the same for the same tensor."""
    return _OUTSIDE + str(op.inputs[at].name)


class _Around:
    """The function around an op as far as `StaticFacts` asks for its graph."""

    def __init__(self, op: Any) -> None:
        self.inputs = list(op.inputs)
        self._op = op

    def get_operations(self) -> list[Any]:
        return [self._op]


def _around(op: Any) -> tuple[Any, tuple[str, ...]]:
    """The FunctionDef of a function that does what `op` does, and the names of its arguments as a run shows them."""
    definition = tf.compat.v1.GraphDef().library.function.add()
    signature = definition.signature
    signature.name = "tfdbg_call"
    node = definition.node_def.add()
    node.CopyFrom(op.node_def)
    node.ClearField("input")
    if "_class" in node.attr:
        del node.attr["_class"]
    names = []
    for at, tensor in enumerate(op.inputs):
        signature.input_arg.add(name=f"tfdbg_in_{at}", type=tensor.dtype.as_datatype_enum)
        node.input.append(f"tfdbg_in_{at}")
        opaque = tensor.dtype.name in _OPAQUE
        names.append(tensor.op.name if opaque else f"tfdbg_in_{at}")
    for at, tensor in enumerate(op.outputs):
        signature.output_arg.add(name=f"tfdbg_out_{at}", type=tensor.dtype.as_datatype_enum)
        definition.ret[f"tfdbg_out_{at}"] = f"{node.name}:output:{at}"
    if op.op_def.is_stateful:
        signature.is_stateful = True
        signature.control_output.append("tfdbg_effect")
        definition.control_ret["tfdbg_effect"] = node.name
    copied = type(definition)()
    copied.CopyFrom(definition)
    return copied, tuple(names)


def _require_known(root: Scope, graph: Any) -> None:
    """Make sure that all that the function of `root` runs can be looked into and done by another op.

    Raises:
        TfdbgError: it is not so.

    """
    for scope in root.all():
        if scope.cut:
            raise TfdbgError(f"{scope.body.name} calls itself")
        if scope.needed.hidden:
            raise TfdbgError(f"{scope.body.name} holds loops or branches of version 1")
        if IMPLEMENTATION & set(scope.body.definition.attr) and tf.config.list_physical_devices("GPU"):
            raise TfdbgError(f"TensorFlow exchanges {scope.body.name} for another function on a GPU")
        for node in scope.needed.nodes:
            _require_known_node(scope, node)


def _require_known_node(scope: Scope, node: Any) -> None:
    if node.name in scope.calls:
        return
    definition = compat.op_definition(node.op)
    if definition is None:
        raise TfdbgError(f"{scope.body.name} calls {node.op} by its name")
    outputs = scope.body.outputs(node.name)
    if any(attribute.type in _FUNCTIONS for attribute in definition.attr) and not (
        outputs and all(tf.as_dtype(output.dtype).name in _OPAQUE for output in outputs)
    ):
        raise TfdbgError(f"{scope.name_of(node.name)} ({node.op}) calls a function that is not known")
    types = [scope.body.type_of(text) for text in scope.body.data_inputs(node)]
    if keeps_state(node.op, lambda name: attribute_of(node, name), types):
        raise TfdbgError(f"{scope.name_of(node.name)} ({node.op}) in it keeps a state of its own")
    if any(kind >= FIRST_REFERENCE for kind in types):
        raise TfdbgError(f"{scope.name_of(node.name)} ({node.op}) is given a variable of the old kind")


class _Facts(StaticFacts):
    """Facts of a function that the optimizer puts in the place of its call, and merges with what is around it."""

    def __init__(
        self,
        root: Scope,
        graphs: Mapping[str, Any],
        constants: Mapping[TensorName, Constant],
        sources: Mapping[TensorName, object],
    ) -> None:
        self._same: dict[TensorName, object] = dict(sources)
        super().__init__(root, graphs, constants)
        for scope in root.all():
            self._of_nodes(scope)

    def source(self, name: TensorName) -> object:
        """As `session.facts.Facts.source`: ops of one type count as the same."""
        return self._same.get(name, ANYTHING)

    def _of_nodes(self, scope: Scope) -> None:
        for node in scope.needed.nodes:
            site = scope.calls.get(node.name)
            if site is not None and site.kind is CallKind.PLAIN:
                continue
            own = scope.name_of(node.name)
            given = scope.body.data_inputs(node)
            definition = compat.op_definition(node.op)
            for slot in range(len(scope.body.outputs(node.name))):
                name = TensorName(own, slot)
                if site is not None or definition is None:
                    self._same[name] = ANYTHING
                elif given and node.op in MAYBE_NOTHING:
                    self._same[name] = self.source(scope.resolve(given[0]))
                elif node.op != "Const" and (not given or definition.is_stateful):
                    self._same[name] = str(name)
                else:
                    self._same[name] = node.op
