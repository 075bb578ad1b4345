"""Of which numbers something is the variance, told by the axes of the mean behind it.

A batch norm takes the variance of a feature in all rows, a layer norm that of the features of a row.
"""

from __future__ import annotations

from enum import Enum, auto

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.makers import below_moves
from tfdbg_cli.model.graph import Node

_MOST_STEPS = 10  # from a variance to its mean: a root, a difference of squares, what keeps it from 0, a cast
_ABOVE_MEAN = frozenset({"Sqrt", "Sub", "Maximum", "Real", "Complex"})  # of the first of their inputs


class VarianceOf(Enum):
    """What the numbers have in common that one element of a variance tells of."""

    FEATURE = auto()  # they are one feature in all rows
    VECTOR = auto()  # they are all the features of one row, or of one place in it
    ROW = auto()  # they are of one row, along several axes, such as the pixels of an image


def variance_of(node: Node | None, lineage: Lineage) -> VarianceOf | None:
    """Of what `node`, which computes a variance or its root, gives that; None where the axes do not tell.

    The first axis is taken for that of the rows, the last one for that of the features.
    """
    mean = _mean_below(node, lineage)
    inputs = [] if mean is None else lineage.inputs_of_node(mean)
    if len(inputs) < 2 or inputs[1].value is None or inputs[0].shape is None:
        return None
    rank, given = len(inputs[0].shape), inputs[1].value
    if rank < 2 or given.dtype.kind not in "iu":
        return None
    axes = {int(axis) % rank for axis in given.reshape(-1)}
    if axes == {rank - 1}:
        return VarianceOf.VECTOR
    if 0 in axes:
        return VarianceOf.FEATURE if len(axes) < rank else None
    return VarianceOf.ROW if len(axes) > 1 else None


def _mean_below(node: Node | None, lineage: Lineage) -> Node | None:
    """The mean that the variance `node`, or its root, is computed by; None for none."""
    for _ in range(_MOST_STEPS):
        node = below_moves(node, lineage)
        if node is None or node.op_type == "Mean":
            return node
        edges = lineage.edges(node)
        if node.op_type not in _ABOVE_MEAN or not edges:
            return None
        node = edges[0].node
    return None
