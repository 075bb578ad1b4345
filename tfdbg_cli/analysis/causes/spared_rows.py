"""Infinities that other rows of the batch take without harm, whatever the program does with them.

Through which ops a mask passes before a softmax, or what stands in the place of one, no table can list. The run
itself tells: where infinities stand in several rows, and all of these but a few end in finite numbers, it is
something else that sets those few apart.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import row_set
from tfdbg_cli.analysis.graph.begun_elements import begun_elements
from tfdbg_cli.analysis.graph.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.parts import ELEMENTWISE
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.intended_infinities import LOOKS

_MOST_TENSORS = 1_000


@dataclass(frozen=True)
class SparedRows:
    """`end` is the op that made finite numbers of the infinities in some rows; `carriers` are the tensors before it.

    These are places in the run: of tensors that hold nothing that is not finite but those infinities.
    """

    end: str
    carriers: frozenset[int]


@dataclass(frozen=True)
class _Followed:
    """The `rows` of a tensor in which the infinities are followed, and its `infinite` elements."""

    rows: frozenset[int]
    infinite: Array


class _Lost(Exception):  # noqa: N818
    """The rows cannot be told apart any more, or all of them went bad."""


def spared_rows(
    run: Run, lineage: Lineage, bad: Callable[[int], bool], name: TensorName, value: Array
) -> SparedRows | None:
    """The rows of a batch that take the infinities of `value`, called `name`, without harm, while others go bad.

    None if there are none, or nobody can tell. `bad` says of the tensors of `run` whether they are not finite.
    """
    try:
        return _Search(run, lineage, bad, name, value).found()
    except _Lost:
        return None


class _Search:
    def __init__(
        self, run: Run, lineage: Lineage, bad: Callable[[int], bool], name: TensorName, value: Array
    ) -> None:
        self._run, self._lineage, self._bad, self._source = run, lineage, bad, name
        self._infinite = np.isinf(value)
        self._followed: dict[int, _Followed] = {}
        self._waiting: list[int] = []
        self._carriers: set[int] = set()
        self._end = ""
        self._parted = False  # whether some rows went bad, by whatever it was

    def found(self) -> SparedRows | None:
        met: set[int] = set()
        self._wait_for_readers(self._source)
        while self._waiting:
            index = heapq.heappop(self._waiting)  # in order of time: all that it reads is known
            if index in met:
                continue
            met.add(index)
            if len(met) > _MOST_TENSORS:
                raise _Lost
            self._look_at(index)
        return SparedRows(self._end, frozenset(self._carriers)) if self._end and self._parted else None

    def _wait_for_readers(self, name: TensorName) -> None:
        node = self._run.graph.find(name.node)
        if node is None:
            raise _Lost
        graph = self._lineage.graph_of(node)
        for reader, slot in graph.consumers(name.node):
            if slot != name.slot or reader.op_type in LOOKS:
                continue
            rows = self._run.tensors.named(reader.name)
            if not rows and self._leads_nowhere(graph, reader):
                continue
            if not rows or any(self._run.tensors[row].execution for row in rows):
                raise _Lost  # not seen, or as often as a loop turns
            for row in rows:
                heapq.heappush(self._waiting, row)

    def _leads_nowhere(self, graph: Graph, node: Node) -> bool:
        """Whether the run shows nothing that depends on `node`, as of gradients that nobody asked for."""

        def readers(name: str) -> list[str]:
            return [reader.name for reader, _ in graph.consumers(name)]

        return not any(map(self._run.tensors.named, reached([node.name], readers)))

    def _look_at(self, index: int) -> None:
        """See what became of the rows in the tensor at `index`, which reads a followed one."""
        node, value = self._lineage.node(index), self._run.tensors.value(index)
        if node is None or isinstance(value, NoValue):
            raise _Lost
        if not self._bad(index):
            self._end = self._end or node.name
            return
        inputs = self._lineage.inputs(index)
        if not value.ndim or len(value) < 2:
            raise _Lost
        nan, infinite = _rows(nan_mask(value)), np.isinf(value)
        rows = self._rows_given(index, node, inputs, value)
        by_others = nan & self._rows_of_others(inputs, len(value))
        gone_bad = (nan & rows) - by_others
        given = [None if item.value is None else nonfinite_mask(item.value) for item in inputs]
        begun = _rows(begun_elements(node, infinite, given))
        if gone_bad | (begun & rows) == rows:
            raise _Lost
        self._parted = self._parted or bool(gone_bad | begun | by_others)
        if not nan and not begun and _rows(infinite) <= rows:
            self._carriers.add(index)
        left = rows - gone_bad - begun - by_others
        further = left & _rows(infinite)
        if left - further:
            self._end = self._end or node.name
        if further:
            self._followed[index] = _Followed(further, infinite)
            self._wait_for_readers(self._run.tensors[index].name)

    def _rows_given(self, index: int, node: Node, inputs: Sequence[InputSeen], value: Array) -> frozenset[int]:
        """The rows of the tensor at `index` that were made of those that are followed: each of the same one."""
        found: frozenset[int] = frozenset()
        every = np.arange(len(value))
        ways = ways_back(row_set(self._run, self._lineage, index, node, 0, every))
        kept = {way.position for way in ways if way.axis == 0 and np.array_equal(way.rows, every)}
        for position, item in enumerate(inputs):
            infinite = self._infinite_of(item)
            if infinite is None:
                continue
            followed = None if item.index is None else self._followed.get(item.index)
            if position in kept and infinite.shape[:1] == value.shape[:1]:
                found |= _rows(infinite) if followed is None else followed.rows
            elif followed is None and node.op_type in ELEMENTWISE and infinite.ndim < value.ndim:
                found |= _rows(np.isinf(value))  # a literal beside each row
            else:
                raise _Lost
        return found

    def _infinite_of(self, item: InputSeen) -> Array | None:
        """The infinite elements of an input that is followed; None of any other."""
        if item.index in self._followed:
            return self._followed[item.index].infinite
        return self._infinite if item.name == self._source else None

    def _rows_of_others(self, inputs: Sequence[InputSeen], rows: int) -> frozenset[int]:
        """The rows in which an input holds NaN; all of them if it has other rows."""
        found: frozenset[int] = frozenset()
        for item in inputs:
            if item.value is None or not nan_mask(item.value).any():
                continue
            alike = item.value.ndim and len(item.value) == rows
            found |= _rows(nan_mask(item.value)) if alike else frozenset(range(rows))
        return found


def _rows(marked: Array | None) -> frozenset[int]:
    """The rows with a marked element; none of a single number."""
    if marked is None or not marked.ndim:
        return frozenset()
    return frozenset(np.flatnonzero(marked.reshape(len(marked), -1).any(axis=1)).tolist())
