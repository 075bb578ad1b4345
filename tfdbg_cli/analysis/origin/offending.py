"""The elements of a tensor that are not finite, and the elements of its inputs that made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.graph.making.parts import Part, parts_of
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.repeated_element import first_places
from tfdbg_cli.model.values import Array

MOST_ELEMENTS = 10


@dataclass(frozen=True)
class Element:
    """One offending element and, for each input, the elements that made it (None: not seen, or not known)."""

    index: tuple[int, ...]
    value: object
    parts: tuple[Part | None, ...]


def offending_elements(
    node: Node | None, value: Array, bad: Array, inputs: Sequence[InputSeen], most: int = MOST_ELEMENTS
) -> tuple[Element, ...]:
    """The first elements of `value`, which `node` made of `inputs`, that `bad` marks: at most `most`."""
    arrays = [item.value for item in inputs]
    found = []
    for place in first_places(bad, most):
        index = tuple(int(i) for i in place)
        parts = parts_of(node, arrays, value.shape, index) if node is not None else (None,) * len(inputs)
        found.append(Element(index, value[index], parts))
    return tuple(found)
