"""The memory that a run would take, looked at before it is made again: a bundle may come from anywhere.

What is known before a run are the shapes that TensorFlow infers from those of the inputs and from constants. A size
that only the run decides is not known, and no reason to refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.replay.registered import refusals, registered
from tfdbg_cli.capture.tf import colocation
from tfdbg_cli.capture.tf.imported_graph import imported_graph
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import FunctionDef, GraphDef, NodeDef, SymbolicTensor, TfGraph
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import RESOURCE, element_type_named
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.units import bytes_text

_ANY = tf.TensorShape(None)


def require_room(tensors: Iterable[SymbolicTensor], room: int) -> None:
    """Refuse a tensor of a graph that is known before the run to take more than `room` bytes.

    Raises:
        TfdbgError: there is one.

    """
    for tensor in tensors:
        _require(tensor, tensor.name, room)


def require_room_in_function(replay_spec: ReplaySpec, room: int) -> None:
    """Refuse a run of a function in which a tensor is known to take more than `room` bytes, functions below included.

    Raises:
        TfdbgError: there is one, or TensorFlow does not take the function.

    """
    with INSIDE, registered(replay_spec) as (root, _, definitions):
        _require_in(root, [_given(item) for item in replay_spec.inputs], definitions, room)


@dataclass(frozen=True)
class _Given:
    """What is known of an argument: the shape, and for the handle of a variable the type by number, else 0."""

    shape: tf.TensorShape
    variable: int = 0


_ANYTHING = _Given(_ANY)


def _given(item: ReplayInput) -> _Given:
    element = element_type_named(item.dtype)
    variable = element.number if element is not None and item.role is InputRole.VARIABLE else 0
    return _Given(tf.TensorShape(item.value.shape), variable)


def _require_in(scope: Scope, given: Sequence[_Given], definitions: Sequence[FunctionDef], room: int) -> None:
    """Look at one function, whose arguments are `given`, and at those that it calls."""
    graph, arguments = _imported(scope, given, definitions)
    for name in scope.body.nodes:
        for tensor in graph.get_operation_by_name(name).outputs:
            _require(tensor, f"{scope.name_of(name)}:{tensor.value_index}", room)
    for site in scope.calls.values():
        passed = list(_passed(scope, site, given, graph, arguments))
        for inner in site.scopes:
            _require_in(inner, passed, definitions, room)


def _require(tensor: SymbolicTensor, name: str, room: int) -> None:
    size = (tensor.shape.num_elements() or 0) * tensor.dtype.size
    if size > room:
        raise TfdbgError(
            f"The run makes {name} of {bytes_text(size)}, and tfdbg may use {bytes_text(room)} of memory.",
            hint="Raise the budget: set TFDBG_MEMORY_BUDGET.",
        )


def _imported(
    scope: Scope, given: Sequence[_Given], definitions: Sequence[FunctionDef]
) -> tuple[TfGraph, Sequence[str]]:
    """The nodes of a function in a graph, where TensorFlow infers shapes, and the names of its arguments there."""
    body = scope.body
    definition = tf.compat.v1.GraphDef()
    definition.library.function.extend(definitions)
    arguments = []
    for position, name in enumerate(body.arguments):
        while name in body.nodes:
            name += "_"
        arguments.append(name)
        _add_argument(definition, name, body.argument_types[position], given[position])
    for node in body.nodes.values():
        copy = definition.node.add()
        copy.CopyFrom(node)
        copy.ClearField("input")
        # What was found when the function was written, if it is not what is found now, would be an error.
        copy.attr.pop("_output_shapes", None)
        # What it stands beside says nothing of shapes, and may be an op of another function.
        colocation.forget(copy)
        copy.input.extend(_reference(body.source(text), arguments) for text in body.data_inputs(node))
        copy.input.extend(text for text in node.input if text.startswith("^"))
    with refusals():
        return imported_graph(definition), arguments


def _add_argument(definition: GraphDef, name: str, dtype: int, given: _Given) -> None:
    """Add a node that stands for an argument: for the handle of a variable one that knows the variable's shape."""
    node: NodeDef = definition.node.add(name=name, op="Placeholder")
    node.attr["dtype"].type = dtype
    if given.variable and dtype == RESOURCE:
        node.op = "VarHandleOp"
        node.attr["dtype"].type = given.variable
    node.attr["shape"].shape.CopyFrom(given.shape.as_proto())


def _reference(source: ReferenceTarget, arguments: Sequence[str]) -> str:
    return arguments[source.slot] if source.node is None else f"{source.node}:{source.slot}"


def _passed(
    scope: Scope, site: CallSite, given: Sequence[_Given], graph: TfGraph, arguments: Sequence[str]
) -> Iterator[_Given]:
    """What the functions of a call are given. The variables of a loop may change their shape from turn to turn."""
    texts = scope.body.data_inputs(site.node)[site.kind is CallKind.BRANCH :]
    turns = graph.get_operation_by_name(site.node.name).outputs
    for position, text in enumerate(texts):
        source = scope.body.source(text)
        if source.node is None and given[source.slot].variable:
            yield given[source.slot]
        elif site.kind is CallKind.LOOP:
            yield _Given(turns[position].shape) if position < len(turns) else _ANYTHING
        else:
            name = _reference(source, arguments)
            yield _Given(graph.get_tensor_by_name(name if ":" in name else f"{name}:0").shape)
