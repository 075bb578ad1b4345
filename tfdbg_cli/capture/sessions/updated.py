"""The variables of a call as they are after it, which no op of the program gives: nodes of ours show them."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.watch.training_filters import UPDATED_VARIABLE
from tfdbg_cli.capture.sessions.call_state import Variable
from tfdbg_cli.capture.sessions.program_graph import tensor_name
from tfdbg_cli.capture.tf.opaque import is_opaque
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import Tensor, describe
from tfdbg_cli.model.values import Array


def updated_name(variable: str) -> TensorName:
    """The name by which the value of a variable after its update is shown."""
    return TensorName(f"{variable}/after_update", 0)


def updated_tensor(variable: str, device: str, value: Array, dtype: str) -> Tensor:
    """The description of the value of a variable after its update."""
    return describe(updated_name(variable), value, device=device, op_type=UPDATED_VARIABLE, dtype=dtype)


def with_updated(graph: Graph, variables: Sequence[Variable]) -> Graph:
    """`graph` with a node for each of `variables`, behind the ops that write it."""
    return Graph([*graph, *map(_node, variables)], graph.kind) if variables else graph


def _node(variable: Variable) -> Node:
    read = (tensor for op in variable.writers for tensor in op.inputs if not is_opaque(tensor))
    inputs = dict.fromkeys((tensor_name(variable.tensor), *map(tensor_name, read)))
    name = updated_name(variable.name).node
    return Node(name, UPDATED_VARIABLE, variable.op.device, tuple(inputs), tuple(op.name for op in variable.writers))
