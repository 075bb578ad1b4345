"""Calls of a session's graph rewritten so that they also return the answer of checks of all that they compute."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from tfdbg_cli.capture.functions.calling.rewrite import Rewriting
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.frontier import frontier_of
from tfdbg_cli.capture.functions.checking.static_facts import StaticFacts
from tfdbg_cli.capture.functions.definition.body import IMPLEMENTATION, Body, attribute_of
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, Scope
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.sessions.extended.own_state import keeps_state
from tfdbg_cli.capture.sessions.wrapped_call import GraphFunctions, RewrittenCall, called_root
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_definitions import OF_FUNCTIONS
from tfdbg_cli.capture.tf.types import NodeDef, Op
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import FIRST_REFERENCE, HANDLES
from tfdbg_cli.model.updates import UPDATED_VARIABLE, after_update
from tfdbg_cli.ops.facts import Facts


def checked_call(
    op: Op, functions: GraphFunctions, facts: Facts[str], question: Question, admits: Callable[[str, str, str], bool]
) -> RewrittenCall | None:
    """A call that does what `op` does and also answers `question`; None when nothing inside has to be asked.

    Args:
        op: a tf.Operation that calls functions.
        functions: those that its graph has.
        facts: what is known of the tensors that `op` is given.
        question: what is asked of each tensor inside.
        admits: which of them are asked, by the node's name, its op type and the dtype's name.

    Raises:
        TfdbgError: a rewritten call might not do the same, or not all that it calls can be looked into.

    """
    root = called_root(op, functions)
    _require_known(root)
    arguments = root.argument_names
    outside = {root.argument_tensor(at): tensor for at, tensor in enumerate(op.inputs)}
    known = StaticFacts(
        root,
        {**functions.graphs, root.body.name: _Around(op)},
        {name: facts.constant(tensor.name) for name, tensor in outside.items()},
        {name: facts.source(tensor.name) for name, tensor in outside.items()},
        merging=True,
    )
    elsewhere = {*arguments, *map(after_update, arguments)}  # checked in the session's graph

    def admitted(node: str, op_type: str, dtype: str) -> bool:
        return not (op_type in (ARGUMENT, UPDATED_VARIABLE) and node in elsewhere) and admits(node, op_type, dtype)

    found = frontier_of(root, known, question, admitted)
    rewriting = Rewriting(b"", wanted=WantedRewrite(question, found, values=False))
    if not rewriting.exposed(root).answers:
        return None
    *definitions, around = rewriting.definitions
    return RewrittenCall(op, Body(around), tuple(definitions), found.checked, found.watched)


class _Around:
    """Stands for the graph of the function made around an op, as far as `StaticFacts` asks for it."""

    def __init__(self, op: Op) -> None:
        self.inputs = list(op.inputs)
        self._op = op

    def get_operations(self) -> list[Op]:
        return [self._op]


def _require_known(root: Scope) -> None:
    """Make sure that all that the function of `root` runs can be looked into, and can be run by another op as well.

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


def _require_known_node(scope: Scope, node: NodeDef) -> None:
    if node.name in scope.calls:
        return
    definition = compat.op_definition(node.op)
    if definition is None:
        raise TfdbgError(f"{scope.body.name} calls {node.op} by its name")
    outputs = scope.body.outputs(node.name)
    if any(attribute.type in OF_FUNCTIONS for attribute in definition.attr) and not (
        outputs and all(tf.as_dtype(output.dtype).name in HANDLES for output in outputs)
    ):
        raise TfdbgError(f"{scope.name_of(node.name)} ({node.op}) calls a function that is not known")
    types = [scope.body.type_of(text) for text in scope.body.data_inputs(node)]
    if keeps_state(node.op, lambda name: attribute_of(node, name), types):
        raise TfdbgError(f"{scope.name_of(node.name)} ({node.op}) in it keeps a state of its own")
    if any(kind >= FIRST_REFERENCE for kind in types):
        raise TfdbgError(f"{scope.name_of(node.name)} ({node.op}) is given a variable of the old kind")
