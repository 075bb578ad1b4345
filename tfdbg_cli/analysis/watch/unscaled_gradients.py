"""Gradients without the loss scale: of mixed precision the program multiplies the loss, and divides the gradients.

Which is known by the graph: a variable that the gradients are multiplied by, as the loss is, and by which what they
lead to is divided. The learning rate is none, which the gradients do not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfdbg_cli.analysis.graph.nodes.roles import Role, role_of
from tfdbg_cli.model.graph import Graph, Node, once_per_graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import QUOTIENTS, RECIPROCALS, REFERENCE_VARIABLES, VARIABLE_READS

_HAND_ON = frozenset({"Identity", "Cast", "ReadVariableOp", "Placeholder", "_Arg"})
_SAME = frozenset({"Identity", "Cast", "Placeholder", "_Arg", "CollectiveReduce", "CollectiveReduceV2"})
_MOST_PASSED = 20


@once_per_graph
def unscaled_gradients(graph: Graph) -> Mapping[TensorName, TensorName]:
    """The gradients that a loss scale multiplies, each with what it is without the scale."""
    scales = {
        source
        for node in graph
        if node.op_type == "Mul" and role_of(graph, node.name, node.op_type) is Role.GRADIENT
        for factor in node.inputs
        if (source := _variable(graph, factor))
    }
    found: dict[TensorName, TensorName] = {}
    for node in graph if scales else ():
        if role_of(graph, node.name, node.op_type) is Role.GRADIENT:
            continue
        for scaled in _divided(graph, node, scales):
            for gradient in _gradients(graph, scaled):
                found.setdefault(gradient, TensorName(node.name, 0))
    return found


def _divided(graph: Graph, node: Node, scales: set[str]) -> Iterator[TensorName]:
    """The input of `node` that it divides by one of `scales`, or multiplies by the inverse of one."""
    if len(node.inputs) != 2:
        return
    one, other = node.inputs
    if node.op_type in QUOTIENTS and _variable(graph, other) in scales:
        yield one
    elif node.op_type == "Mul":
        for factor, scaled in ((one, other), (other, one)):
            inverse = graph.find(factor.node)
            inverts = inverse is not None and inverse.op_type in QUOTIENTS | RECIPROCALS
            if inverse is not None and inverts and any(_variable(graph, of) in scales for of in inverse.inputs[-1:]):
                yield scaled


def _gradients(graph: Graph, scaled: TensorName) -> Iterator[TensorName]:
    """The gradients that `scaled` is, handed on at most."""

    def before(name: TensorName) -> list[TensorName]:
        node = graph.find(name.node)
        passes = node is not None and node.op_type in _SAME and not _is_gradient(graph, name)
        return list(node.inputs[:1]) if node is not None and passes else []

    yield from (name for name in reached([scaled], before, most=_MOST_PASSED) if _is_gradient(graph, name))


def _is_gradient(graph: Graph, name: TensorName) -> bool:
    node = graph.find(name.node)
    return node is not None and role_of(graph, name.node, node.op_type) is Role.GRADIENT


def _variable(graph: Graph, name: TensorName) -> str:
    """The variable that `name` gives, cast at most; empty where it gives something else."""
    node, was_read = graph.find(name.node), False
    for _ in range(_MOST_PASSED):
        if node is None or node.op_type not in _HAND_ON or not node.inputs:
            break
        was_read = was_read or node.op_type in VARIABLE_READS
        node = graph.find(node.inputs[0].node)
    return node.name if node is not None and (was_read or node.op_type in REFERENCE_VARIABLES) else ""
