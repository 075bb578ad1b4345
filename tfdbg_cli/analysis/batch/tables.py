"""Tables that a program looks rows up in: their rows are no rows of a batch."""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import COPIES, GATHERS, MATMULS, RESHAPES

_HANDS_ON = COPIES | RESHAPES | {"Transpose", "Cast"}
_MOST_NODES = 200


def is_table(graph: Graph, name: str) -> bool:
    """Whether rows of the node called `name` are gathered, and others are multiplied with all of it, as with weights.

    An embedding is such a table: its product with what is computed of some of its rows are logits. Records out of
    which a batch is gathered are what weights are multiplied with, or each other.
    """
    if not any(reader.op_type in GATHERS and reader.inputs[0].node == name for reader, _ in graph.consumers(name)):
        return False

    def handing_on(one: str) -> Iterator[str]:
        return (reader.name for reader, _ in graph.consumers(one) if reader.op_type in _HANDS_ON)

    same = set(reached([name], handing_on, most=_MOST_NODES))
    products = [reader for one in same for reader, _ in graph.consumers(one) if reader.op_type in MATMULS]
    return bool(products) and not any(product.inputs[0].node in same for product in products)
