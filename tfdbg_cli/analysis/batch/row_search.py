"""The way back from rows of one tensor to the batch that they came in with, op by op."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.lone_vectors import is_lone_vector
from tfdbg_cli.analysis.batch.stored_batch import DELIVERIES, StoredBatch, StoredRows
from tfdbg_cli.analysis.batch.tables import is_table
from tfdbg_cli.analysis.batch.tensor_lists import TensorLists
from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, RowWay, row_set
from tfdbg_cli.analysis.graph.axes.whole_items import whole_ways_back
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.model.graph import GIVEN_BY, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import CONCATENATIONS, INPUTS, SEGMENTS

MOST_TENSORS = 5_000  # looked at on the way back to a feed, for each axis
_LEAST_TENSORS = 100  # the same, for each turn of a loop


class RowSearch:
    """The way back from rows of one tensor, nearest first."""

    def __init__(self, run: Run, lineage: Lineage, through: Mapping[str, int], most: int = MOST_TENSORS) -> None:
        self._run = run
        self._most = most
        self._lineage = lineage
        self._through = through
        self._stored = StoredBatch(run, lineage)
        self._lists = TensorLists(run, lineage)
        self._waiting: deque[tuple[int, int, Array]] = deque()
        self._aside: deque[tuple[int, int, Array]] = deque()  # for when nothing else leads to a batch
        self._met: set[tuple[int, int]] = set()
        self._passed: list[tuple[int, Array]] = []  # rows of tensors on the way

    def back(self, index: int, axis: int, rows: Array) -> BatchRows | None:
        self._meet(index, axis, rows)
        while (waiting := self._waiting or self._aside) and self._left > 0:
            index, axis, rows = waiting.popleft()
            if axis == 0:
                self._passed.append((index, rows))
            found = self._step(index, axis, rows)
            if found is not None:
                return replace(found, apart=self._is_apart(found), way=self._way())
        given = self._given()
        return None if given is None else replace(given, way=self._way())

    def unseen(self, item: InputSeen, way: RowWay) -> BatchRows | None:
        """The rows of a batch that no tensor of the run shows; None where `item` is none."""
        if item.value is None or way.axis or self._is_no_batch(item):
            return None
        made = "" if item.node is None else item.node.attributes.get(GIVEN_BY, "")
        source = made or str(feed_name(item.node) or item.name)
        return self._entered(item.node, item.name.slot, way.rows, source, len(item.value))

    @property
    def _left(self) -> int:
        """How many tensors more it may look at."""
        return self._most - len(self._met)

    def _way(self) -> dict[int, tuple[int, ...]]:
        return {index: tuple(map(int, rows)) for index, rows in self._passed}

    def _is_apart(self, found: BatchRows) -> bool:
        """Whether the way led through arguments that have these rows in other places."""
        passed = [
            tuple(map(int, rows))
            for index, rows in self._passed
            if (node := self._lineage.node(index)) is not None and GIVEN_BY in node.attributes
        ]
        return bool(passed) and found.rows not in passed

    def _given(self) -> BatchRows | None:
        """The rows of an argument that was given a tensor on the way, from which nothing was found further back."""
        for index, rows in self._passed:
            tensor, node = self._run.tensors[index], self._lineage.node(index)
            if node is None or GIVEN_BY not in node.attributes or self._stored.is_row_splits(node):
                continue
            if tensor.shape:
                return _batch(rows, str(TensorName(node.name, 0)), tensor.shape[0])
        return None

    def _meet(self, index: int, axis: int, rows: Array, *, aside: bool = False) -> None:
        if (index, axis) not in self._met:
            self._met.add((index, axis))
            (self._aside if aside else self._waiting).append((index, axis, rows))

    def _step(self, index: int, axis: int, rows: Array) -> BatchRows | None:
        node, shape = self._lineage.node(index), self._run.tensors[index].shape
        if node is None or shape is None or axis >= len(shape) or (axis == WHOLE and not self._in_loop(index)):
            return None
        name = self._run.tensors[index].name
        if self._enters(node):
            if is_lone_vector(self._run, self._lineage, name, node, shape):
                return None
            fed = feed_name(node) if node.op_type in INPUTS else None
            if axis or (fed is not None and self._stored.is_row_splits(node)):
                return None
            entered = self._entered(node, name.slot, rows, str(fed or name), shape[0])
            return replace(entered, execution=self._run.tensors[index].execution)
        if axis == 0 and GIVEN_BY in node.attributes:  # what it is made of tells the rows, unless they are stored
            found = self._stored.rows(node, name.slot, rows)
            if found is not None or self._stored.is_row_splits(node):
                return None if found is None else _stored(found)
        if axis == 0 and node.op_type in SEGMENTS:
            found = self._stored.rows_of_segments(node, shape[0], rows)
            if found is not None:
                return _stored(found)
        behind = list(self._lists.behind(index, axis, rows))
        if len(behind) > 1 and axis == 0:  # what each turn of a loop put there came of rows of its own
            share = max(self._left // len(behind), _LEAST_TENSORS)
            return self._joined([self._apart(place, share) for place in behind])
        for place in behind:
            self._meet(*place)
        inputs = self._lineage.places(index)
        step = row_set(self._run, self._lineage, index, node, axis, rows)
        ways = list(whole_ways_back(step) if axis == WHOLE else ways_back(step))
        apart = node.op_type in CONCATENATIONS and any(not np.array_equal(way.rows, rows) for way in ways)
        if apart and 1 < len(ways) <= self._left:
            share = self._left // len(ways)  # so that all of them together look at no more than this search may
            known = [(inputs[way.position], way) for way in ways if way.position < len(inputs)]
            return self._joined(
                [
                    self.unseen(item, way)
                    if item.index is None
                    else self._apart((item.index, way.axis, way.rows), share)
                    for item, way in known
                ]
            )
        for way in ways:
            if way.position >= len(inputs):  # a damaged graph: the op reads less than ops of its type do
                continue
            if way.position != self._through.get(node.name, way.position):
                continue
            item = inputs[way.position]
            if item.index is not None:
                self._meet(item.index, way.axis, way.rows, aside=way.inner)
            elif (came := self.unseen(item, way)) is not None:
                return came
        return None

    def _apart(self, place: tuple[int, int, Array], most: int) -> BatchRows | None:
        """The rows of the batch behind one part of what was joined, by a search that looks at `most` tensors."""
        return RowSearch(self._run, self._lineage, self._through, most).back(*place)

    def _joined(self, parts: Sequence[BatchRows | None]) -> BatchRows | None:
        """The rows of the batch behind all the `parts` of what was joined, each of which holds other ones of them.

        They are put together as far as they are of as many rows: two views of one batch, say.
        """
        found = [part for part in parts if part is not None]
        if not found:
            return None
        alike = [part for part in found if part.size == found[0].size and part.stored == found[0].stored]
        rows = tuple(sorted({row for part in alike for row in part.rows}))
        self._passed += [(index, np.array(of)) for part in alike for index, of in part.way.items()]
        return replace(found[0], rows=rows)

    def _in_loop(self, index: int) -> bool:
        """Whether a loop makes such a tensor in each of its turns."""
        name = self._run.tensors[index].name
        return len(self._run.tensors.named(name.node, name.slot)) > 1

    def _entered(self, node: Node | None, slot: int, rows: Array, source: str, size: int) -> BatchRows:
        """The rows of the batch, where `rows` of what came in as output `slot` of `node` are found."""
        found = self._stored.rows(node, slot, rows) if node is not None else None
        return _batch(rows, source, size) if found is None else _stored(found)

    def _enters(self, node: Node) -> bool:
        """Whether a batch comes into the graph at `node`."""
        if node.op_type in INPUTS:
            return not (self._is_captured(node) or is_table(self._lineage.graph_of(node), node.name))
        given = node.op_type in DELIVERIES or self._lineage.delivers(node)
        return given or f"{node.name}:0" in self._run.call.feeds

    def _is_no_batch(self, item: InputSeen) -> bool:
        """Whether a value that no tensor of the run shows is no batch: of a variable, say, or where rows begin."""
        if item.node is None:
            return False
        no_rows = self._lineage.is_variable(item.node) or self._stored.is_row_splits(item.node)
        if no_rows or is_table(self._lineage.graph_of(item.node), item.node.name):
            return True
        return is_lone_vector(self._run, self._lineage, item.name, item.node, item.shape)

    def _is_captured(self, node: Node | None) -> bool:
        return node is not None and self._lineage.is_captured(node)


def _stored(found: StoredRows) -> BatchRows:
    rows = tuple(map(int, found.rows))
    return BatchRows(rows, str(found.source), found.size, stored=True, of_elements=found.of_elements)


def _batch(rows: Array, source: str, size: int) -> BatchRows:
    return BatchRows(tuple(int(row) for row in np.unique(rows)), source, size)
