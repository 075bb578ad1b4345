"""Tensors that depend on what was replaced, though all that they lead to was replaced, too.

Nothing that the run gives or does needs them any more, so they have to be asked for: what they were no longer holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode, is_marker
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.walks import reached


def cut_off(
    flat: FlatFunction, fed: Collection[TensorName], replaced: Collection[TensorName]
) -> Iterator[TensorName]:
    """The tensors of `flat` that depend on `replaced`, but which no run needs in which those in `fed` have values.

    An update of a variable is a way to depend, too. Tensors in loops and branches of version 1, and handles, are left
    out: none of them can be asked for.
    """
    needed = set(_needed(flat, fed))
    lost = [node for node in flat.nodes.values() if node.is_needed and node.name not in needed]
    changed = _behind(flat, replaced) if len(replaced) > 1 and lost else frozenset()
    for node in lost:
        if node.name in changed and not is_marker(node) and not node.is_hidden:
            yield from (name for name in node.outputs if name not in fed and flat.has_numbers(name))


def _needed(flat: FlatFunction, fed: Collection[TensorName]) -> Iterator[str]:
    """The names of the nodes that have to run for what `flat` gives and does."""

    def needs(name: str) -> list[str]:
        node = flat.nodes[name]
        read = (tensor.node for tensor in node.inputs if tensor not in fed)
        return [other for other in (*read, *node.controls, *node.through) if other in flat.nodes]

    ends = (*(name.node for name in flat.returns if name not in fed), *flat.effects)
    return reached((end for end in ends if end in flat.nodes), needs)


def _behind(flat: FlatFunction, replaced: Collection[TensorName]) -> frozenset[str]:
    """The names of the nodes that read `replaced`, and of all that read those or wait for them."""
    readers: dict[str, list[FlatNode]] = {}
    for node in flat.nodes.values():
        for before in set(node.needs):
            readers.setdefault(before, []).append(node)
    first = (reader.name for name in replaced for reader in readers.get(name.node, ()) if name in reader.inputs)
    return frozenset(reached(first, lambda name: (reader.name for reader in readers.get(name, ()))))
