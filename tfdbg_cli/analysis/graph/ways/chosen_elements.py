"""The elements that an op chose by what its inputs hold: the largest of a segment, what a one among zeros picks.

What is told was compared with the values: it is nothing where these do not bear it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.graph.making.parts import MISFIT, Index, Part
from tfdbg_cli.model.dtypes import in_double, is_inexact
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import MATMULS, SEGMENT_EXTREMES

_PRODUCTS = MATMULS | {"Einsum"}


@dataclass(frozen=True)
class Chosen:
    """The `elements` of the input at `position` one of which the result is; several are equal."""

    position: int
    elements: tuple[Index, ...]


def chooses(node: Node) -> bool:
    """Whether `node` may be an op of which `chosen_elements` tells something."""
    return node.op_type in SEGMENT_EXTREMES or node.op_type in _PRODUCTS


def chosen_elements(
    node: Node, inputs: Sequence[Array | None], parts: Sequence[Part | None], element: Index
) -> Chosen | None:
    """Which elements of one of its `inputs` the `element` is that `node` made; None where it made it of several.

    `parts` are the elements that it is made of, as far as these are known.
    """
    try:
        return _extreme(node, inputs, element) if node.op_type in SEGMENT_EXTREMES else _picked(parts)
    except MISFIT:
        return None


def equal_elements(part: Part, element: Index) -> tuple[Index, ...]:
    """The places of all elements of `part` that are equal to the one at `element`, which comes first."""
    free = [axis for axis, place in enumerate(part.index) if place is None]
    values = part.value
    told = values[tuple(element[axis] for axis in free)]
    same = np.argwhere(np.isnan(values) if told != told else values == told)
    places = []
    for found in same:
        among = iter(found.tolist())
        places.append(tuple(next(among) if place is None else place for place in part.index))
    return (element, *(place for place in places if place != element))


def _extreme(node: Node, inputs: Sequence[Array | None], element: Index) -> Chosen | None:
    """The largest or smallest elements of a segment, at one place within its rows."""
    data, segments = inputs[:2]
    if data is None or segments is None or not is_inexact(data.dtype):
        return None
    members = np.argwhere(segments == element[0])
    values = in_double(data)[(*members.T, *element[1:])]
    best = values.min() if node.op_type.endswith("Min") else values.max()
    won = members[np.isnan(values) if np.isnan(best) else values == best]
    return Chosen(0, tuple((*map(int, member), *element[1:]) for member in won))


def _picked(parts: Sequence[Part | None]) -> Chosen | None:
    """The element that a factor of zeros and a single one picks of what it is multiplied with.

    All else must be finite: 0 times infinity is NaN. Where both factors are such, either may be the choice.
    """
    if len(parts) != 2:
        return None
    one, two = parts
    if one is None or two is None or one.index.count(None) != 1 or two.index.count(None) != 1:
        return None
    places = _only_one(one.value), _only_one(two.value)
    if len(one.value) != len(two.value) or (places[0] is None) == (places[1] is None):
        return None
    position = 1 if places[0] is not None else 0
    taken, place = (two, places[0]) if position else (one, places[1])
    assert place is not None
    others = np.delete(taken.value, place)
    if not is_inexact(taken.value.dtype) or not np.isfinite(in_double(others)).all():
        return None
    return Chosen(position, (tuple(place if at is None else at for at in taken.index),))


def _only_one(line: Array) -> int | None:
    """The place of the one in a `line` that is 0 elsewhere; None for another line."""
    at = np.flatnonzero(line)
    return int(at[0]) if at.size == 1 and line[at[0]] == 1 else None
