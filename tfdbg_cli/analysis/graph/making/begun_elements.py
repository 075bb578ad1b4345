"""Elements of an elementwise op's result that are bad, such as NaN, although what they are computed from is not."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array

BY_CHANNEL = frozenset({"BiasAdd"})
"""Ops whose second input lies along an axis that an attribute names."""


def begun_elements(node: Node, bad: Array, inputs: Sequence[Array | None]) -> Array | None:
    """Marks the `bad` elements of the result of `node` at which none of its `inputs` is bad, or None.

    `bad` and `inputs` mark bad elements (True); None stands for an input that was not recorded. None is given, too,
    where it cannot be told: the op is not elementwise, or an input does not spread to the shape of the result.
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
