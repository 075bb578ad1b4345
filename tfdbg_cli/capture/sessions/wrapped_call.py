"""Wraps an op of a session's graph that calls functions into a function, so that its inside can be rewritten.

Such a function is rewritten like others (`capture/functions/calling/rewrite.py`); its nodes then run in the place of
the op. The name of a node inside begins with that of the op, and for a plain call also of the function:
`dense/PartitionedCall/relu/MatMul`, `while/body/add`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.body import Body, Library, ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import CallPlace, CallTree, Scope, called_by_role
from tfdbg_cli.capture.sessions.function_definitions import function_definitions
from tfdbg_cli.capture.tf import colocation, compat
from tfdbg_cli.capture.tf.op_definitions import calls_functions, is_stateful
from tfdbg_cli.capture.tf.types import FunctionDef, NodeDef, Op, TfGraph
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import HANDLES
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import CALLS


@dataclass(frozen=True)
class RewrittenCall:
    """The nodes of `body` do the same as `op`, and besides return answers of checks, or values, from its inside.

    The arguments of `body` are what the op is given; one of its nodes has the name of the op and its outputs.
    `definitions` are the functions that the nodes call, as far as they are new. `checked` checks stand for `total`
    tensors.
    """

    op: Op
    body: Body
    definitions: tuple[FunctionDef, ...]
    checked: int = 0
    total: int = 0

    @property
    def given(self) -> tuple[ReferenceTarget, ...]:
        """The outputs that are given besides those of the op."""
        return tuple(map(self.body.source, self.body.returns[len(self.op.outputs) :]))


class GraphFunctions:
    """The functions of a tf.Graph: their definitions, read when they are wanted, and their FuncGraphs.

    With `as_written` their nodes have the names that they have in the definitions; else those of the program's ops.
    """

    def __init__(self, graph: TfGraph, *, as_written: bool = False) -> None:
        self.graphs: Mapping[str, TfGraph] = compat.function_graphs(graph)
        self._graph = graph
        self._as_written = as_written

    def library(self, added: FunctionDef) -> Library:
        """The functions of the graph, and the one defined by `added`."""
        name = added.signature.name
        return Library(self._operations_of, lambda one: added if one == name else self._definitions.get(one))

    @cached_property
    def _definitions(self) -> dict[str, FunctionDef]:
        return function_definitions(self._graph)

    def _operations_of(self, name: str) -> Collection[str]:
        graph = None if self._as_written else self.graphs.get(name)
        return () if graph is None else {op.name for op in graph.get_operations()}


def called_root(op: Op, functions: GraphFunctions) -> Scope:
    """The scope of a function that does what `op` does; its arguments have the names that the run shows.

    Raises:
        TfdbgError: it is not known how `op` calls, or what.

    """
    if op.type not in CALLS and compat.op_definition(op.type) is not None:
        raise TfdbgError(f"tfdbg does not know how a {op.type} calls")
    if any(tensor.dtype != tensor.dtype.base_dtype for tensor in op.inputs):
        raise TfdbgError("it is given a variable of the old kind")
    node = _as_call(op)
    definition, arguments = _around(op, node)
    try:
        tree = CallTree(functions.library(definition), places={op.name: _place(node)})
        root = tree.grow(definition.signature.name, arguments)
    except (LookupError, RecursionError) as error:
        raise TfdbgError("the definition of what it calls is not at hand") from error
    # Handles keep the names of the arguments, so that variables are known by them.
    numbers = {at: tensor for at, tensor in enumerate(op.inputs) if tensor.dtype.name not in HANDLES}
    root.stands_for = {at: TensorName(tensor.op.name, tensor.value_index) for at, tensor in numbers.items()}
    return root


def called_roots(order: Iterable[Op], functions: GraphFunctions) -> dict[str, Scope]:
    """The `called_root` of each op of `order` that calls functions, by the name of the op.

    An op whose functions are not known is left out; a note of the run names it.
    """
    found: dict[str, Scope] = {}
    for op in filter(calls_functions, order):
        with suppress(TfdbgError):
            found[op.name] = called_root(op, functions)
    return found


def _as_call(op: Op) -> NodeDef:
    """The NodeDef of `op`, without its inputs.

    Functions of version 1 (`Defun`) are called by an op of their own name: then one that calls as others do.
    """
    node = type(op.node_def)()
    node.CopyFrom(op.node_def)
    node.ClearField("input")
    if op.type not in CALLS:
        node.op = "StatefulPartitionedCall" if is_stateful(op) else "PartitionedCall"
        node.attr["f"].func.name = op.type
        for name, tensors in (("Tin", op.inputs), ("Tout", op.outputs)):
            node.attr[name].list.type.extend(tensor.dtype.as_datatype_enum for tensor in tensors)
    return node


def _place(node: NodeDef) -> CallPlace:
    """Where the functions that `node` calls are shown: under its name, which is unique, and their role."""
    return CallPlace(node.name, tuple(f"{node.name}/{role}" for role, _ in called_by_role(node)))


def _around(op: Op, call: NodeDef) -> tuple[FunctionDef, tuple[str, ...]]:
    """The FunctionDef of a function that makes the `call` that `op` is, and how a run shows its arguments."""
    definition = tf.compat.v1.GraphDef().library.function.add()
    signature = definition.signature
    signature.name = "tfdbg_call"
    node = definition.node_def.add()
    node.CopyFrom(call)
    colocation.forget(node)
    names = []
    for at, tensor in enumerate(op.inputs):
        signature.input_arg.add(name=f"tfdbg_in_{at}", type=tensor.dtype.as_datatype_enum)
        node.input.append(f"tfdbg_in_{at}")
        opaque = tensor.dtype.name in HANDLES
        names.append(tensor.op.name if opaque else f"tfdbg_in_{at}")
    for at, tensor in enumerate(op.outputs):
        signature.output_arg.add(name=f"tfdbg_out_{at}", type=tensor.dtype.as_datatype_enum)
        definition.ret[f"tfdbg_out_{at}"] = f"{node.name}:output:{at}"
    if is_stateful(op):
        signature.is_stateful = True
        signature.control_output.append("tfdbg_effect")
        definition.control_ret["tfdbg_effect"] = node.name
    copied = type(definition)()
    copied.CopyFrom(definition)
    return copied, tuple(names)
