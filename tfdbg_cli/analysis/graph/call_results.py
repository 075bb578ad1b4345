"""Which result of the functions that an op calls became which of its outputs, and how many of these there are.

A run shows such an op as the reader of the results of its functions, those of one behind those of the other, and of
what it gave to these. Which result became which output is told by their order alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfdbg_cli.model.graph import Node

_MANY = re.compile(r", … (?P<count>\d+) in all\]$")  # how the text of a long list ends
_BRANCH = re.compile(r"(true|false|branch\d+)(_\d+)?/")


def list_length(node: Node, name: str) -> int | None:
    """How many entries the attribute `name` of `node` has, also where its text was cut; None where it has none."""
    text = node.attributes.get(name, "").strip()
    many = _MANY.search(text)
    if many is not None:
        return int(many["count"])
    return len(text.split(", ")) if text.startswith("[") and text != "[]" else None


def branch_results(node: Node, slot: int) -> Sequence[int] | None:
    """The inputs of a conditional that became its output `slot`: one of each branch that is shown.

    None where it has one output alone, or where nobody recorded how many. Of a branch that hands on what it was given
    as it is, nobody can tell which result is which.
    """
    outputs = list_length(node, "Tout")
    if outputs is None or outputs == 1:
        return None
    results: dict[str, list[int]] = {}
    for position, tensor in enumerate(node.inputs):
        inside = tensor.node.removeprefix(f"{node.name}/")
        branch = _BRANCH.match(inside) if inside != tensor.node else None
        if branch is not None:
            results.setdefault(branch[0], []).append(position)
    return [positions[slot] for positions in results.values() if len(positions) == outputs]
