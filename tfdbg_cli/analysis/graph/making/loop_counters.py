"""What the counter of a loop made, and numbers that the program wrote: no row of a batch is to blame for it."""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.graph import LOOP_VARIABLE, Node
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import LITERALS

_MOST_NODES = 200  # behind a number that a turn of a loop counts there are few


def is_counted(node: Node | None, lineage: Lineage) -> bool:
    """Whether `node` is made of variables of loops and of constants alone, such as the time in a turn."""
    if node is None:
        return False

    def read(one: Node) -> Iterator[Node]:
        return (edge.node for edge in lineage.edges(one) if edge.node is not None)

    behind = list(reached([node], read, most=_MOST_NODES))
    written = all(
        all(edge.node is not None for edge in lineage.edges(one)) if one.inputs else one.op_type in LITERALS
        for one in behind
    )
    return written and len(behind) < _MOST_NODES and any(one.op_type == LOOP_VARIABLE for one in behind)
