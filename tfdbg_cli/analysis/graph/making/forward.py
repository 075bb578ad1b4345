"""The forward op whose gradient an op computes: the line of the program that can be mended is that op's."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.analysis.graph.nodes.forward_scopes import forward_scope, named_after, shown_as, within, without_scopes
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.ops.kinds import CALLS, RESHAPES

# Ops whose slope is infinite somewhere in the domain, or at its border.
STEEP = frozenset({
    "Log", "Log1p", "Sqrt", "Rsqrt", "Pow", "RealDiv", "Div", "Reciprocal", "Inv", "Acos", "Asin", "Atanh", "Acosh",
    "Xlogy", "Xdivy", "EuclideanNorm", "Erfinv", "Atan2",
})  # fmt: skip
# Ops whose gradient is computed of what they gave, by a product.
_READS_OWN_RESULT = frozenset({"Exp", "Expm1", "Softmax", "LogSoftmax", "Prod", "Cumprod"})
# Steep ops whose gradient is computed of what they gave by an op that is not called after them.
_READ_BY = {"Acosh": "Sinh"}
SHAPES = RESHAPES | {"Transpose", "Cast", "Sum", "Mean", "BroadcastTo"}
_FAR = 5  # ops between a gradient and what it is of
_MOST_NODES = 200


def forward_of(graph: Graph, lineage: Lineage, node: Node) -> Node | None:
    """The op of the forward pass whose gradient `node` computes; None for what is no gradient, or if it is open."""
    if not is_gradient(graph, node.name):
        return None
    return named_forward(graph, node) or _read(graph, lineage, node)


def steep_forward_of(graph: Graph, lineage: Lineage, node: Node) -> Node | None:
    """The op with a steep slope whose gradient `node` computes; `node` itself when it is no gradient."""
    if not is_gradient(graph, node.name):
        return node
    named = named_forward(graph, node)
    if named is not None and named.op_type in STEEP:
        return named
    for maker, reader in _tensors_read(graph, lineage, node):
        if maker.op_type in STEEP and _reads_result_of(reader, maker):
            return maker  # SqrtGrad reads what Sqrt gave
        for consumer, _ in graph.consumers(maker.name):
            if consumer.op_type in STEEP and not is_gradient(graph, consumer.name):
                return consumer
    return None


def named_forward(graph: Graph, node: Node) -> Node | None:
    """The op after which TensorFlow named the scope of its gradient: of tf.gradients `Log_grad`, of a tape `pow`.

    `node` is of that gradient. The op is looked for in the function that `node` is in, and in the one of whose ops
    that function computes the gradients. None where no such op is there.
    """
    before, parts = named_after(node.name)
    found = _under(graph, before, parts)
    if found is None and (elsewhere := forward_scope(graph, node.name)) is not None:
        found = _under(graph, within(elsewhere), parts)
    return found


def _under(graph: Graph, prefix: str, parts: Sequence[str]) -> Node | None:
    """The op of the forward pass called as `parts` say, or as some of them do, whose name begins with `prefix`."""
    for end in range(len(parts), 0, -1):
        for name in shown_as(graph, prefix, parts[:end]):
            found = graph.find(name)
            if found is not None and found.op_type not in CALLS and not is_gradient(graph, found.name):
                return found
    return None


def _read(graph: Graph, lineage: Lineage, node: Node) -> Node | None:
    """The op that the forward tensors tell which `node` reads: it made one of them, or reads one.

    Of two that are as likely it is the one whose tensor `node` reads itself, and no gradient that it came from.
    """
    scope = without_scopes(node.name).rpartition("/")[0]
    found: dict[str, tuple[int, Node]] = {}
    for maker, reader in _tensors_read(graph, lineage, node):
        candidates = [maker, *(one for one, _ in graph.consumers(maker.name) if not is_gradient(graph, one.name))]
        for candidate in candidates:
            likely = 2 * _likelihood(candidate, candidate is maker, reader, scope)
            likely += bool(likely) and reader is node
            if likely > found.get(candidate.name, (0, candidate))[0]:
                found[candidate.name] = (likely, candidate)
    most = max((likely for likely, _ in found.values()), default=0)
    best = [candidate for likely, candidate in found.values() if likely == most]
    return best[0] if len(best) == 1 else None


def _likelihood(candidate: Node, made_it: bool, gradient: Node, scope: str) -> int:
    """How likely it is that `gradient` is of `candidate`, which made what it reads or reads it too; 0: not at all."""
    if made_it and not candidate.inputs:
        return 0
    inside = candidate.name.rpartition("/")[0] == scope
    stem = re.sub(r"(Grad(V\d+)?|Backprop(Input|Filter)?(V\d+)?)$", "", gradient.op_type)
    if made_it and gradient.op_type == _READ_BY.get(candidate.op_type):
        return 8 + inside
    if stem != gradient.op_type and candidate.op_type.startswith(stem):
        return 8 + inside
    if not made_it and candidate.op_type in STEEP:
        return 4 + inside
    if made_it and candidate.op_type in _READS_OWN_RESULT and gradient.op_type == "Mul":
        return 2 + inside
    return 1 + inside if not made_it and candidate.op_type == gradient.op_type else 0


def _reads_result_of(gradient: Node, forward: Node) -> bool:
    return gradient.op_type.endswith("Grad") or gradient.op_type == _READ_BY.get(forward.op_type)


def _tensors_read(graph: Graph, lineage: Lineage, node: Node) -> Iterator[tuple[Node, Node]]:
    """The makers of the forward tensors behind the gradient `node`, nearest first, each with what reads it."""
    waiting, met = deque([(node, node, 0)]), {node.name}
    while waiting and len(met) < _MOST_NODES:
        current, reader, far = waiting.popleft()
        for edge in lineage.edges(current):
            maker = edge.node
            if maker is None or maker.name in met:
                continue
            met.add(maker.name)
            if not is_gradient(graph, maker.name):
                yield maker, reader
            elif lineage.takes_out(maker):
                waiting.append((maker, reader, far))
            elif far < _FAR and maker.op_type in ELEMENTWISE | SHAPES:
                waiting.append((maker, maker, far + 1))
