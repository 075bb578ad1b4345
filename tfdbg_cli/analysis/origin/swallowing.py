"""Ops that turn a NaN into an ordinary number, so that it disappears, though the outcome depends on it.

If tf.where does not choose a NaN, nothing depends on that. But a comparison with NaN is false, the maximum of NaN and
1 may be 1, and NaN cast to an integer is arbitrary: such results are wrong, but look right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import cached_property

import numpy as np

from tfdbg_cli.analysis.graph.flow.branches import was_left_out
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.call_scopes import call_scopes
from tfdbg_cli.analysis.origin.made_of_nan import MadeOfNaN
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.dtypes import element_type_named, is_inexact
from tfdbg_cli.model.graph import LOOP_VARIABLE, Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.intended_infinities import LOOKS
from tfdbg_cli.ops.kinds import (
    CALLS,
    COMPARES,
    CONTROL_FLOW,
    COPIES,
    IDENTITIES,
    LITERALS,
    LOOPS,
    MOVES,
    OF_SHAPES,
    PYTHON,
    SELECTS,
    SORTS,
    TRANSFERS,
    TRUTHS,
)

# Floats that such an op gives may be made of a NaN.
_SWALLOWS = frozenset({
    "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "ApproximateEqual", "ArgMax", "ArgMin",
    "TopK", "TopKV2", "InTopK", "InTopKV2", "Bucketize", "Cast", "Max", "Min", "Maximum", "Minimum", "ClipByValue",
    "Relu", "Relu6", "LeakyRelu", "MaxPool", "MaxPoolV2", "MaxPool3D", "SegmentMax", "SegmentMin",
    "UnsortedSegmentMax", "UnsortedSegmentMin", "Multinomial", "StatelessMultinomial", "Unique", "UniqueV2",
    "SearchSorted", "LowerBound", "UpperBound", "HistogramFixedWidth", "QuantizeV2", "Dilation2D",
    "TensorScatterMax", "TensorScatterMin", "ScatterNdMax", "ScatterNdMin", "SparseReduceMax",
    "SparseReduceMaxSparse", "RGBToHSV", "ImageProjectiveTransformV2", "ImageProjectiveTransformV3",
})  # fmt: skip
# Of any other op integers, truths and texts are: an index, an order, a text of the number. Not where they follow from
# shapes, are asked on purpose (is_finite), or move beside the number.
_INDIFFERENT = (LOOKS | MOVES) - _SWALLOWS | CALLS | CONTROL_FLOW | IDENTITIES | COPIES | TRANSFERS
_MOST_MADE = 200  # nodes that are made of a NaN which a tf.where is there for
_BESIDE = ("Ragged", "Sparse", "TensorArray", "TensorList", "Stack")  # how the types of such ops begin
_OF_ITSELF = frozenset({"Equal", "NotEqual"})  # x != x asks whether x is NaN


def swallowed(
    run: Run, lineage: Lineage, bad: Iterable[int], outcome: Collection[TensorName], meant: Iterable[int] = ()
) -> Node | None:
    """An op that turned a NaN into a number, or a text, on which something in `outcome` depends; None for none.

    `bad` are the rows of the tensors of `run` that are not finite, `meant` of those with NaN that a tf.where is there
    for: what it asks of them is no harm. Of several ops one that is known to have done that comes before Python of
    the program, of which nobody knows what it makes of a NaN.
    """
    named = [{run.tensors[row].name: row for row in rows} for rows in (bad, meant)]
    search, python = _Swallowing(run, lineage, named[0], named[1], outcome), None
    for node in search.found():
        if node.op_type not in PYTHON:
            return node
        python = python or node
    return python


class _Swallowing:
    """The search for such ops in one run, of which `bad` and `meant` are the tensors with NaN, with a row of each."""

    def __init__(
        self,
        run: Run,
        lineage: Lineage,
        bad: dict[TensorName, int],
        meant: dict[TensorName, int],
        outcome: Collection[TensorName],
    ) -> None:
        self._run, self._lineage, self._meant, self._outcome = run, lineage, meant, outcome
        self._bad = {**meant, **bad}

    def found(self) -> Iterator[Node]:
        met: set[str] = set()
        for name, row in self._bad.items():
            for reader in self._readers(name):
                if reader.name in met or (name in self._meant and self._guards(reader, name)):
                    continue
                met.add(reader.name)
                if not self._asks_on_purpose(reader) and self._hides(reader) and _has_nan(self._run, row):
                    yield reader

    def _readers(self, name: TensorName) -> Iterator[Node]:
        """The ops that read the tensor `name`, in the scopes of a loop, too, which has it as a variable."""

        def further(given: TensorName) -> Iterator[TensorName]:
            for reader, slot in self._run.graph.consumers(given.node):
                reads = slot == given.slot and reader.op_type == LOOP_VARIABLE
                if reads and not self._run.tensors.named(reader.name):  # of its own it often shows none
                    yield TensorName(reader.name, 0)

        for given in reached([name], further):
            yield from (reader for reader, slot in self._run.graph.consumers(given.node) if slot == given.slot)

    def _guards(self, reader: Node, name: TensorName) -> bool:
        """Whether `reader` does nothing but tell where a tf.where takes what was made of the tensor `name`."""
        graph = self._run.graph

        def made(one: str) -> Iterator[str]:
            return (found.name for found, _ in graph.consumers(one))

        def combined(one: str) -> Iterator[str]:
            return (found.name for found, _ in graph.consumers(one) if found.op_type in TRUTHS)

        chosen = set(reached([name.node], made, most=_MOST_MADE))
        asking = (found for one in reached([reader.name], combined) for found, _ in graph.consumers(one))
        return all(
            found.op_type in SELECTS and any(part.node in chosen for part in found.inputs[1:])
            for found in asking
            if found.op_type not in TRUTHS
        )

    def _asks_on_purpose(self, reader: Node) -> bool:
        """Whether `reader` asks whether a number is NaN, or finite: it compares it with itself, or with infinity."""
        if reader.op_type in _OF_ITSELF and len(set(reader.inputs)) == 1:
            return True
        return reader.op_type in COMPARES and any(map(self._is_infinity, reader.inputs))

    def _is_infinity(self, name: TensorName) -> bool:
        """Whether the tensor `name` is an infinity that the program wrote down."""
        node = self._run.graph.find(name.node)
        rows = () if node is None or node.op_type not in LITERALS else self._run.tensors.named(name.node, name.slot)
        values = [self._run.tensors.value(row) for row in rows]
        return any(
            not isinstance(value, NoValue) and value.dtype.kind in "fV" and bool(np.isinf(value).all())
            for value in values
        )

    def _hides(self, reader: Node) -> bool:
        """Whether what comes out depends on a number, or a text, that `reader` gives, and that is not bad.

        Of an op that is not shown, although it may have run, that is taken to be so where it may make one of a NaN.
        """
        rows = self._run.tensors.named(reader.name)
        if not rows and reader.op_type in _SWALLOWS | PYTHON:
            return not was_left_out(self._run.graph, self._run.tensors, reader) and reader.name in self._needed
        return any(
            self._may_hide(reader, row) and self._counts(self._run.tensors[row].name) and self._elements.counts(row)
            for row in rows
            # Of a sort that was given a NaN no element needs to be where it belongs, though it gives the NaN on.
            if reader.op_type in SORTS or self._run.tensors[row].name not in self._bad
        )

    def _may_hide(self, reader: Node, row: int) -> bool:
        if reader.op_type in _SWALLOWS | PYTHON:
            return True
        if reader.op_type in _INDIFFERENT or reader.op_type.startswith(_BESIDE):
            return False
        kind = element_type_named(self._run.tensors[row].dtype)
        return kind is not None and kind.numpy is not None and not is_inexact(kind.numpy)

    def _counts(self, name: TensorName) -> bool:
        """Whether something in the outcome depends on the tensor `name`: the other outputs of its op may be bad."""
        if name in self._outcome or name.node in self._decides:
            return True
        consumers = self._run.graph.consumers(name.node)
        return any(slot in (name.slot, None) and reader.name in self._needed for reader, slot in consumers)

    @cached_property
    def _elements(self) -> MadeOfNaN:
        def comes_out(name: TensorName) -> bool:
            return name in self._outcome or name.node in self._decides

        return MadeOfNaN(self._run, self._lineage, comes_out, self._needed)

    @cached_property
    def _decides(self) -> Set[str]:
        """The nodes in conditions of loops on which the outcome depends: one of them is what the loop asks."""
        return {name for loop, names in _deciding(self._run.graph).items() if loop in self._needed for name in names}

    @cached_property
    def _needed(self) -> Set[str]:
        return _depended_on(self._run.graph, self._outcome)


def used_by(graph: Graph, outcome: Iterable[TensorName]) -> set[str]:
    """The nodes that gave elements on which something in `outcome` depends, and not just on their shape."""
    return _depended_on(graph, outcome, of_elements=True)


def _has_nan(run: Run, row: int) -> bool:
    """Whether the tensor at `row` held a NaN in any of its executions."""
    name = run.tensors[row].name
    values = (run.tensors.value(other) for other in run.tensors.named(name.node, name.slot))
    return any(not isinstance(value, NoValue) and bool(np.any(nan_mask(value))) for value in values)


def _depended_on(graph: Graph, outcome: Iterable[TensorName], *, of_elements: bool = False) -> set[str]:
    """The nodes on which the tensors of `outcome` depend: by edges, or as part of the condition of a loop.

    With `of_elements` neither edges of control count nor what is asked for its shape alone.
    """
    deciding = _deciding(graph)

    def needs(name: str) -> Iterator[str]:
        yield from deciding.get(name, ())
        for node in graph.all_named(name):
            if not of_elements:
                yield from node.needs
            elif node.op_type not in OF_SHAPES:
                yield from (given.node for given in node.inputs)

    return set(reached((name.node for name in outcome), needs))


def _deciding(graph: Graph) -> dict[str, Sequence[str]]:
    """By loop, the nodes of its condition, from which no edge of the graph leads to the outputs of the loop."""
    scopes = call_scopes(graph)
    found: dict[str, list[str]] = {}
    if not scopes:
        return {}
    for node in graph:
        for scope in scopes.around(node.name):
            caller = graph.find(scopes.caller(scope))
            if caller is not None and caller.op_type in LOOPS and scope.rpartition("/")[2].startswith("cond"):
                found.setdefault(caller.name, []).append(node.name)
    return dict(found)
