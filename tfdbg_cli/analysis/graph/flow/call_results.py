"""Which results of the functions that an op calls became which of its outputs.

In the graph of a run, the inputs of such an op are the results of its functions, one function after the other, and
what it passed to them. Only their order tells which result became which output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfdbg_cli.model.graph import Node

_MANY = re.compile(r", … (?P<count>\d+) in all\]$")  # how the text of a long list ends
_BRANCH = re.compile(r"(true|false|branch\d+)(_\d+)?/")


def list_length(node: Node, name: str) -> int | None:
    """The number of entries of the list attribute `name` of `node`, even if its text was cut; None if it has none."""
    text = node.attributes.get(name, "").strip()
    many = _MANY.search(text)
    if many is not None:
        return int(many["count"])
    return len(text.split(", ")) if text.startswith("[") and text != "[]" else None


def branch_results(node: Node, slot: int, taken: str | None = None) -> Sequence[int] | None:
    """The positions of the inputs of a conditional that may become its output `slot`, one for each branch.

    Where it is known which branch was `taken` (`true`, `false`, `branchN`), only that of this one.

    None if it has an unknown number of outputs. Branches are left out if they pass an argument on unchanged, since
    their results are then not all among the inputs.
    """
    outputs = list_length(node, "Tout")
    if outputs is None:
        return None
    results: dict[str, list[int]] = {}
    for position, tensor in enumerate(node.inputs):
        inside = tensor.node.removeprefix(f"{node.name}/")
        branch = _BRANCH.match(inside) if inside != tensor.node else None
        if branch is not None and taken in (None, branch[1]):
            results.setdefault(branch[0], []).append(position)
    return [positions[slot] for positions in results.values() if len(positions) == outputs]
