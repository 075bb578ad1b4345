"""What is computed of the variables of a model alone: no data is behind it, and nothing that is drawn at random."""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import draws_numbers
from tfdbg_cli.ops.kinds import LITERALS

_MOST_NODES = 200  # behind one tensor; what more is behind is no parameter of a model


def is_made_of_variables(run: Run, node: Node | None, lineage: Lineage) -> bool:
    """Whether variables are behind what `node` gives, and else nothing but constants.

    A number that a function was traced with is a constant of it; larger tensors from outside may be data.
    """
    if node is None:
        return False

    def behind(current: Node) -> Iterator[Node]:
        if not lineage.is_variable(current):
            yield from (edge.node for edge in lineage.edges(current) if edge.node is not None)

    variables = met = 0
    for current in reached([node], behind, most=_MOST_NODES):
        met += 1
        if lineage.is_variable(current):
            variables += 1
            continue
        edges = lineage.edges(current)
        unknown = draws_numbers(current.op_type) or any(edge.node is None for edge in edges)
        if unknown or not (edges or current.op_type in LITERALS or _is_number_of_function(run, current, lineage)):
            return False
    return variables > 0 and met < _MOST_NODES


def _is_number_of_function(run: Run, node: Node, lineage: Lineage) -> bool:
    rows = run.tensors.named(node.name)
    return lineage.is_captured(node) and len(rows) > 0 and run.tensors[rows[0]].shape == ()
