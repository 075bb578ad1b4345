"""Elements of the result of an elementwise op that are bad though those that they were made of are not."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.graph.parts import ELEMENTWISE
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array

BY_CHANNEL = frozenset({"BiasAdd"})
"""Ops whose second input lies along an axis that an attribute names."""


def begun_elements(node: Node, bad: Array, inputs: Sequence[Array | None]) -> Array | None:
    """Those of the `bad` elements of what `node` gives at which none of its `inputs` is bad; None for none.

    All are marks of bad elements; None in place of an input that was not seen. None is given, too, where it cannot be
    told: the op is not elementwise, or an input has a shape that does not spread to that of the result.
    """
    if node.op_type not in ELEMENTWISE - BY_CHANNEL:
        return None
    left = bad
    for given in inputs:
        if given is None or given.ndim > bad.ndim or not spreads_to(given.shape, bad.shape):
            return None
        left = left & ~given
    return left if left.any() else None


def spreads_to(given: Shape, wanted: Shape) -> bool:
    """Whether NumPy spreads an array of the shape `given`, of no more axes, to the shape `wanted`."""
    return all(size in (1, whole) for size, whole in zip(given[::-1], wanted[::-1], strict=False))
