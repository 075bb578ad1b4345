"""Whether an operand is the logarithm of a variance, told by the divergence that it is a term of.

The divergence of a normal distribution from the standard one, as a variational autoencoder adds it to its loss, is
`-0.5 * sum(1 + v - square(mean) - exp(v))`, in whatever order its terms are added.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.makers import below_moves, is_square
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.values import Array
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import LONG_SUMS, SAME_VALUE, SUMS

_HALVES = {"Mul": 0.5, "RealDiv": 2.0}  # by which number
_MOST_SUMS = 20  # that are looked at, above the operand and below each of those


def is_log_variance(node: Node | None, lineage: Lineage) -> bool:
    """Whether what `node` gives is a term of a sum with a square, and with its own exponential or a constant."""
    node = _as_made(node, lineage)
    if node is None:
        return False
    return any(_is_divergence(total, node, lineage) for total in _sums_of(node, lineage))


def is_half_log_variance(node: Node | None, lineage: Lineage) -> bool:
    """Whether `node` halves the logarithm of a variance: its exponential is the deviation."""
    node = _as_made(node, lineage)
    half = None if node is None else _HALVES.get(node.op_type)
    if node is None or half is None:
        return False
    inputs = lineage.inputs_of_node(node)[:2]
    halved = [_is_all(item.value, half) for item in inputs]
    if len(inputs) < 2 or not any(halved) or (node.op_type != "Mul" and not halved[1]):
        return False
    return is_log_variance(inputs[halved.index(False)].node if not all(halved) else None, lineage)


def _is_all(value: Array | None, number: float) -> bool:
    return value is not None and value.size > 0 and value.dtype.kind in "fV" and bool((value == number).all())


def _as_made(node: Node | None, lineage: Lineage) -> Node | None:
    """The node whose output `node` gives, be it itself: what only hands a value on is seen through."""
    for _ in range(_MOST_SUMS):
        if node is None or node.op_type not in SAME_VALUE or not lineage.edges(node):
            return node
        node = lineage.edges(node)[0].node
    return node


def _sums_of(node: Node, lineage: Lineage) -> list[Node]:
    """The sums that `node` is a term of, and those that these are terms of."""
    graph = lineage.graph_of(node)

    def readers(name: str) -> Iterator[str]:
        for reader, _ in graph.consumers(name):
            if _adds(reader) or reader.op_type in SAME_VALUE:
                yield reader.name

    found = map(graph.find, reached([node.name], readers, most=_MOST_SUMS))
    return [one for one in found if one is not None and one is not node and _adds(one)]


def _adds(node: Node) -> bool:
    return node.op_type in SUMS or node.op_type in LONG_SUMS


def _is_divergence(total: Node, node: Node, lineage: Lineage) -> bool:
    terms = _terms(total, lineage)
    if not any(is_square(term, lineage) for term in terms):
        return False
    return any(term.op_type == "Const" or _is_exponential(term, node, lineage) for term in terms)


def _terms(total: Node, lineage: Lineage) -> list[Node]:
    """What is added up to `total`, sums among it taken apart."""
    terms: list[Node] = []
    waiting, sums = [total], 0
    while waiting and sums < _MOST_SUMS:
        node = waiting.pop()
        if not _adds(node):
            terms.append(node)
            continue
        sums += 1
        below = (below_moves(edge.node, lineage) for edge in lineage.edges(node))
        waiting.extend(one for one in below if one is not None)
    return terms


def _is_exponential(term: Node, node: Node, lineage: Lineage) -> bool:
    if term.op_type != "Exp":
        return False
    edges = lineage.edges(term)
    return bool(edges) and _as_made(edges[0].node, lineage) is node
