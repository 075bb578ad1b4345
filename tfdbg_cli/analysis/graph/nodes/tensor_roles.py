"""The part that a tensor plays in a training step, where that of its node does not say it."""

from __future__ import annotations

from tfdbg_cli.analysis.graph.nodes.roles import Role, role_of
from tfdbg_cli.model.dtypes import may_have_fractions
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.ops.kinds import LITERALS, OF_SHAPES

NOT_COMPUTED = LITERALS | OF_SHAPES  # ops of which nothing is a gradient


def tensor_role(graph: Graph, tensor: Tensor) -> Role | None:
    """The role of `tensor`, which is that of its node; None where it only serves the gradients.

    Besides gradients a backward pass holds what it takes to make them: shapes, axes, masks, of how many elements a
    mean was made, constants. Those neither vanish nor explode.
    """
    role = role_of(graph, tensor.node, tensor.op_type)
    return None if role is Role.GRADIENT and not _is_gradient(graph, tensor) else role


def _is_gradient(graph: Graph, tensor: Tensor) -> bool:
    """Whether an op of the backward pass made `tensor` of numbers with a fraction, and it has one itself."""
    if not may_have_fractions(tensor.dtype):
        return False
    node = graph.find(tensor.node)
    return tensor.op_type not in NOT_COMPUTED if node is None else computes_fractions(graph, node)


def computes_fractions(graph: Graph, node: Node) -> bool:
    """Whether `node` computes something, and not of whole numbers alone."""
    if node.op_type in NOT_COMPUTED or (node.op_type == "Fill" and _is_literal(graph, node)):
        return False
    return may_have_fractions(node.attributes.get("SrcT", ""))  # what a Cast is made of


def _is_literal(graph: Graph, fill: Node) -> bool:
    """Whether `fill`, the node of a Fill, repeats what was written down, as the 1 with which gradients begin."""
    value = graph.find(fill.inputs[1].node) if len(fill.inputs) > 1 else None
    return value is not None and value.op_type in LITERALS
