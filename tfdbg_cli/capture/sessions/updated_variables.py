"""The variables of a call as they are after it, which no op of the program gives: nodes of ours show them."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.capture.sessions.call_state import UsedVariable
from tfdbg_cli.capture.sessions.fetched_tensors import Outlined
from tfdbg_cli.capture.sessions.program_graph import tensor_name
from tfdbg_cli.capture.tf.opaque import is_opaque
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.updates import UPDATED_VARIABLE, after_update


def updated_name(variable: str) -> TensorName:
    """The name by which the value of a variable after its update is shown."""
    return TensorName(after_update(variable), 0)


def updated_outline(variable: str, device: str, dtype: str) -> Outlined:
    """What is known of a variable after its update without its value."""
    return Outlined(updated_name(variable), device, dtype, UPDATED_VARIABLE)


def with_updated(graph: Graph, variables: Sequence[UsedVariable]) -> Graph:
    """`graph` with a node for each of `variables`, behind the ops that write it."""
    return Graph([*graph, *map(_node, variables)], graph.kind) if variables else graph


def _node(variable: UsedVariable) -> Node:
    read = (tensor for op in variable.writers for tensor in op.inputs if not is_opaque(tensor))
    inputs = dict.fromkeys((tensor_name(variable.tensor), *map(tensor_name, read)))
    name = updated_name(variable.name).node
    return Node(name, UPDATED_VARIABLE, variable.op.device, tuple(inputs), tuple(op.name for op in variable.writers))
