"""Which of the elements that an op took together its result owes most to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tfdbg_cli.analysis.graph.making.parts import Index, Part, flag
from tfdbg_cli.model.dtypes import in_double, is_inexact
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import ACCUMULATIONS

ONE_OF_MANY = frozenset({"Max", "Min"})  # the result is one of the elements


def telling_element(node: Node, element: Index, part: Part, negative: bool) -> Index:
    """The place of that element of `part` which the `element` that `node` made of it owes most to.

    That is the largest, of a minimum the smallest, of a product what changed it most. Where the question is why the
    result is `negative`, it is of a sum and of a product what is farthest below 0.
    """
    if None not in part.index:
        return tuple(place for place in part.index if place is not None)
    values = in_double(part.value) if is_inexact(part.value.dtype) else np.zeros(part.value.shape)
    by_sign = negative and node.op_type not in ONE_OF_MANY
    told = -np.real(values) if by_sign else _TOLD_BY.get(node.op_type, np.abs)(values)
    if node.op_type in ACCUMULATIONS:
        told = np.where(_taken(node, element, part), told, -np.inf)
    among = iter(np.unravel_index(int(np.argmax(told)), told.shape))
    return tuple(int(next(among)) if place is None else place for place in part.index)


def _change(factors: Array) -> Array:
    """How far each of some factors changes their product: the smallest most where it is small, else the largest."""
    sizes = np.abs(factors)
    with np.errstate(divide="ignore"):
        powers = np.log10(sizes)
    return -sizes if np.sum(powers) < 0 else sizes


def _taken(node: Node, element: Index, part: Part) -> Array:
    """Which elements of a line are added up, or multiplied, by the time of `element`."""
    last = element[part.index.index(None)]
    places = np.arange(part.value.shape[0])
    later = last - places if flag(node, "reverse") else places - last
    return later < 0 if flag(node, "exclusive") else later <= 0


_TOLD_BY: Mapping[str, Callable[[Array], Array]] = {
    "Max": np.real,
    "Min": lambda values: -np.real(values),
    "Prod": _change,
    "Cumprod": _change,
}
