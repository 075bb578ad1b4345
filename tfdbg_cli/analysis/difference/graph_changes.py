"""What sets two graphs apart: ops added, removed, moved, of another type, reading others; folded and fused ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from tfdbg_cli.analysis.difference.compared import gap_between
from tfdbg_cli.analysis.difference.folded_ops import folded_ops
from tfdbg_cli.analysis.difference.tolerance import Tolerance
from tfdbg_cli.analysis.graph.making.fused_ops import COMPOSITION
from tfdbg_cli.analysis.graph.nodes.neighbours import HIDDEN_OPS
from tfdbg_cli.analysis.pairing.families import family_of
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import OWN_OPS
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import LITERALS

_SMALL = 8  # elements of a constant that are compared: it says how the graph computes, larger ones are weights
_MOST_LOOKED_AT = 200  # nodes around one that is missing
_NO_OPS_OF_THE_PROGRAM = HIDDEN_OPS | OWN_OPS
_OF_NO_MATTER = frozenset({"shared_name", "container", "T", "dtype", "f", "shape", "Tidx", "value", "index"})


class What(StrEnum):
    """What became of an op from the first graph to the second."""

    REMOVED = "removed"
    ADDED = "added"
    PRUNED = "pruned"  # left out by TensorFlow's optimizer: nothing needs it, or another op gives the same
    FOLDED = "folded"  # into a constant, by TensorFlow's optimizer
    FUSED = "fused"  # into another op, by TensorFlow's optimizer
    RETYPED = "other type"
    MOVED = "moved"  # to another device
    REWIRED = "reads others"
    SET = "other attributes"


@dataclass(frozen=True, slots=True)
class GraphChange:
    """One op that is not the same in two graphs; a name is empty where that graph has none. `text` says more."""

    what: What
    first: str
    second: str
    op_type: str
    text: str = ""


def graph_changes(first: Run, second: Run, nodes: Sequence[tuple[str, str]]) -> Iterator[GraphChange]:
    """The changes, those of the paired `nodes` in the order of the first graph, then what only one has.

    What the optimizer of one run alone left out, folded or fused is told as such where a runtime graph is recorded.
    Nodes that tfdbg adds, to show variables after their updates, are none of either graph.
    """
    pairs, back = dict(nodes), {two: one for one, two in nodes}
    for one, two in nodes:
        ours, theirs = first.graph.find(one), second.graph.find(two)
        if ours is not None and theirs is not None:
            yield from _changes(ours, theirs, pairs)
            yield from _other_constant(first, second, ours, theirs)
    fate = _Fates((first, second), pairs)
    for node in _alone(first.graph, pairs):
        yield GraphChange(fate.of(node), node.name, "", node.op_type)
    fate = _Fates((second, first), back)
    for node in _alone(second.graph, back):
        what = fate.of(node)
        yield GraphChange(What.ADDED if what is What.REMOVED else what, "", node.name, node.op_type)


def _alone(graph: Graph, paired: Mapping[str, str]) -> Iterable[Node]:
    for name in graph.names():
        node = graph.find(name)
        if name not in paired and node is not None and node.op_type not in _NO_OPS_OF_THE_PROGRAM:
            yield node


def _changes(one: Node, two: Node, pairs: Mapping[str, str]) -> Iterator[GraphChange]:
    def change(what: What, text: str) -> GraphChange:
        return GraphChange(what, one.name, two.name, one.op_type, text)

    if one.op_type != two.op_type:
        folded = "Const" in (one.op_type, two.op_type) and family_of(one) != family_of(two)
        yield change(What.FOLDED if folded else What.RETYPED, f"{one.op_type} → {two.op_type}")
    if one.device and two.device and one.device != two.device:
        yield change(What.MOVED, f"{one.device} → {two.device}")
    ours = [(pairs.get(read.node, f"only {read.node}"), read.slot) for read in one.inputs]
    theirs = [(read.node, read.slot) for read in two.inputs]
    if ours != theirs and one.op_type == two.op_type:
        yield change(What.REWIRED, f"{_listed(one)} → {_listed(two)}")
    said = [
        f"{key} {one.attributes.get(key, 'none')} → {two.attributes.get(key, 'none')}"
        for key in dict.fromkeys((*one.attributes, *two.attributes))
        if key not in _OF_NO_MATTER and not key.startswith("_")
        if one.attributes.get(key) != two.attributes.get(key)
    ]
    if said and one.op_type == two.op_type:
        yield change(What.SET, "; ".join(said))


def _other_constant(first: Run, second: Run, one: Node, two: Node) -> Iterator[GraphChange]:
    """A small constant that holds something else, by more than the coarser type rounds it."""
    if one.op_type != "Const" or two.op_type != "Const":
        return
    stores = first.tensors, second.tensors
    found = [store.named(node.name, 0) for store, node in zip(stores, (one, two), strict=True)]
    if not (found[0] and found[1]):
        return
    rows = found[0][0], found[1][0]
    values = [store.value(row) for store, row in zip(stores, rows, strict=True)]
    shown = [np.array2string(value) for value in values if not isinstance(value, NoValue) and value.size <= _SMALL]
    if len(shown) < len(values):
        return
    gap = gap_between(stores, rows, Tolerance())
    if gap is not None and gap.apart:
        yield GraphChange(What.SET, one.name, two.name, one.op_type, f"value {shown[0]} → {shown[1]}")


def _listed(node: Node) -> str:
    return ", ".join(map(str, node.inputs)) or "nothing"


class _Fates:
    """What became of ops of the first of two runs which the graph of the other one has not."""

    def __init__(self, runs: tuple[Run, Run], pairs: Mapping[str, str]) -> None:
        own, other = runs
        self._own, self._ran, self._pairs = own.graph, other.graph, pairs
        self._optimized = other.graph.kind is GraphKind.RUNTIME
        known = other.python_graph is not None or own.graph.kind is GraphKind.PYTHON
        self._written = (other.python_graph or own.graph) if known else None

    @cached_property
    def _folded(self) -> frozenset[str]:
        return frozenset() if self._written is None else folded_ops(self._written, self._ran)

    def of(self, node: Node) -> What:
        """What became of `node`."""
        if not self._optimized:
            return What.REMOVED
        if node.op_type not in LITERALS and self._is_fused(node):  # no kernel takes a constant in
            return What.FUSED
        if self._written is None or node.name not in self._written:
            return What.REMOVED
        return What.FOLDED if node.name in self._folded else What.PRUNED

    def _is_fused(self, node: Node) -> bool:
        for name in _paired_around(node, self._own, self._pairs):
            counterpart = self._ran.find(self._pairs[name])
            if counterpart is not None and _is_fused(counterpart) and not _is_fused(self._own.node(name)):
                return True
        return False


def _paired_around(node: Node, graph: Graph, pairs: Mapping[str, str]) -> Iterator[str]:
    """The paired nodes that `node` reads, or that read it, directly or by others that are not paired."""

    def further(name: str) -> Iterator[str]:
        if name in pairs:
            return
        for found in graph.all_named(name):
            yield from (read.node for read in found.inputs)
        yield from (reader.name for reader, _ in graph.consumers(name))

    return (name for name in reached([node.name], further, most=_MOST_LOOKED_AT) if name in pairs)


def _is_fused(node: Node) -> bool:
    return (node.op_type.startswith("_") and "Fused" in node.op_type) or node.op_type == COMPOSITION
