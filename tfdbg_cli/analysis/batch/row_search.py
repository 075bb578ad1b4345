"""The way back from rows of one tensor to the batch that they came in with, op by op."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import BatchRows, Lookup, along_other_axis, lost_at
from tfdbg_cli.analysis.batch.counted_texts import counted_texts
from tfdbg_cli.analysis.batch.either_side import either_side, of_either
from tfdbg_cli.analysis.batch.entries import BatchEntries
from tfdbg_cli.analysis.batch.lone_vectors import is_lone_vector
from tfdbg_cli.analysis.batch.stored_batch import StoredBatch, StoredRows
from tfdbg_cli.analysis.batch.tensor_lists import TensorLists
from tfdbg_cli.analysis.batch.whole_search import WholeSearch
from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, RowWay, row_set
from tfdbg_cli.analysis.graph.axes.whole_items import whole_ways_back
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.parts import value_inputs
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.model.graph import GIVEN_BY, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import CONCATENATIONS, COUNTS, INPUTS, PUTS, SEGMENTS, STITCHES

MOST_TENSORS = 5_000  # looked at on the way back to a feed, for each axis
_LEAST_TENSORS = 100  # the same, for each turn of a loop


@dataclass(frozen=True, slots=True)
class _Place:
    """`rows` along `axis` of the tensor at `index`, which `node` made."""

    index: int
    axis: int
    rows: Array
    node: Node
    shape: Shape


@dataclass(frozen=True, slots=True)
class _End:
    """Where a way ends: at the rows of a batch that it `found`, or at none."""

    found: BatchRows | None


class RowSearch:
    """The way back from rows of one tensor, nearest first."""

    def __init__(self, run: Run, lineage: Lineage, through: Mapping[str, int], most: int = MOST_TENSORS) -> None:
        self._run = run
        self._most = most
        self._lineage = lineage
        self._through = through
        self._stored = StoredBatch(run, lineage)
        self._entries = BatchEntries(run, lineage, self._stored)
        self._lookup: Lookup | None = None  # in a table on the way
        self._lists = TensorLists(run, lineage)
        self._waiting: deque[tuple[int, int, Array]] = deque()
        self._aside: deque[tuple[int, int, Array]] = deque()  # for when nothing else leads to a batch
        self._met: set[tuple[int, int]] = set()
        self._passed: list[tuple[int, Array]] = []  # rows of tensors on the way
        self._lost = ""
        self._across: set[tuple[str, int]] = set()  # other axes of batches than that of their rows

    def back(self, index: int, axis: int, rows: Array) -> BatchRows | None:
        self._meet(index, axis, rows)
        while (waiting := self._waiting or self._aside) and self._left > 0:
            index, axis, rows = waiting.popleft()
            if axis == 0:
                self._passed.append((index, rows))
            found = self._step(index, axis, rows)
            if found is not None and not self._was_put(found):
                return replace(found, apart=self._is_apart(found), way=self._way())
        given = self._given()
        return None if given is None else replace(given, way=self._way())

    def _was_put(self, found: BatchRows) -> bool:
        """Whether it is single elements that eager ops put into an argument of more rows than these are."""
        given = self._given()
        return given is not None and found.size < given.size and any(map(self._puts_elements, self._passed))

    def _puts_elements(self, passed: tuple[int, Array]) -> bool:
        """Whether a tensor on the way is a copy of another one with something put at places of several axes."""
        index, _ = passed
        node = self._lineage.node(index)
        places = self._lineage.places(index)[1].shape if node is not None and node.op_type in PUTS else None
        return places is not None and places[-1:] > (1,)

    @property
    def lost(self) -> str:
        """Where the nearest way ended that led to no rows, in words; empty where that is not known."""
        return self._lost

    def unseen(self, item: InputSeen, way: RowWay) -> BatchRows | None:
        """The rows of a batch that no tensor of the run shows; None where `item` is none."""
        if item.value is not None and way.axis > 0 and not self.is_no_batch(item):
            self._other_axis(way.axis, item.name)
        if item.value is None or way.axis or self.is_no_batch(item):
            self._meet_table(item.node)
            self._lost = self._lost or self._entries.why_none(item)
            return None
        made = "" if item.node is None else item.node.attributes.get(GIVEN_BY, "")
        source = made or str(feed_name(item.node) or item.name)
        return self._entered(item.node, item.name.slot, way.rows, source, len(item.value))

    def enters(self, node: Node) -> bool:
        """Whether a batch comes into the graph at `node`."""
        return self._entries.enters(node)

    def is_no_batch(self, item: InputSeen) -> bool:
        """Whether a value that no tensor of the run shows is no batch: of a variable, say, or where rows begin."""
        return self._entries.is_no_batch(item)

    def rows_behind(self, item: InputSeen, way: RowWay) -> BatchRows | None:
        """The rows of the batch behind some rows of an input; None where there are none."""
        if item.index is None:
            return self.unseen(item, way)
        return self._search_one((item.index, way.axis, way.rows), max(self._left // 10, _LEAST_TENSORS))

    def leads_across(self, index: int, source: str) -> bool:
        """Whether an axis of the tensor at `index` leads along axis 1 of what came in as `source`."""
        for axis, size in enumerate(self._run.tensors[index].shape or ()):
            search = RowSearch(self._run, self._lineage, self._through, self._most)
            search.back(index, axis, np.arange(size))
            if (source, 1) in search._across:
                return True
        return False

    def out_of_list(self, index: int) -> list[tuple[int, int, Array]] | None:
        """What the tensor at `index`, taken out of a list, was there; None where it was in none."""
        node = self._lineage.node(index)
        if node is None or not self._lists.takes(node):
            return None
        return list(self._lists.behind(index, WHOLE, np.zeros(0, np.int64)))

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
        """The rows of a batch, if the way ends at these; None where it goes on by what waits now, or is lost."""
        node, shape = self._lineage.node(index), self._run.tensors[index].shape
        if node is None or shape is None or axis >= len(shape):
            return None
        if axis == WHOLE and not self._in_loop(index):
            return self._of_whole(index)
        at = _Place(index, axis, rows, node, shape)
        ends = (
            self._where_entering, self._where_stored, self._of_segments, self._of_counts, self._of_either,
            self._out_of_list,
        )  # fmt: skip
        for ending in ends:
            if (end := ending(at)) is not None:
                return end.found
        inputs, ways = self._lineage.places(index), self._ways(at)
        if not ways and axis != WHOLE and shape[axis] == 1 and not self._in_loop(index):
            self._meet(index, WHOLE, rows[:0], aside=True)
        given = (inputs[position] for position in value_inputs(node.op_type, len(inputs)))
        if not ways and not self._lost and any(item.shape for item in given):
            self._lost = lost_at(node)
        if 1 < len(ways) <= self._left and _parts_differ(at, ways):
            return self._of_parts(inputs, ways)
        return self._through_op(node, inputs, ways)

    def _where_entering(self, at: _Place) -> _End | None:
        """The rows of a batch that comes into the graph at this node, or that there are none."""
        if not self.enters(at.node):
            self._meet_table(at.node)
            return None
        tensor = self._run.tensors[at.index]
        fed = feed_name(at.node) if at.node.op_type in INPUTS else None
        is_splits = fed is not None and self._stored.is_row_splits(at.node)
        if at.axis > 0:
            self._other_axis(at.axis, fed or tensor.name)
        if at.axis or is_splits or is_lone_vector(self._run, self._lineage, tensor.name, at.node, at.shape):
            return _End(None)
        entered = self._entered(at.node, tensor.slot, at.rows, str(fed or tensor.name), at.shape[0])
        return _End(replace(entered, execution=tensor.execution))

    def _other_axis(self, axis: int, batch: TensorName) -> None:
        self._across.add((str(batch), axis))
        self._lost = self._lost or along_other_axis(axis, batch)

    def _of_whole(self, index: int) -> BatchRows | None:
        """The row that all of a tensor was made of which no loop makes in each of its turns."""
        search = WholeSearch(self._run, self._lineage, self, self._through)
        found = search.back(index)
        self._lost = self._lost or search.lost
        return found

    def _where_stored(self, at: _Place) -> _End | None:
        """The rows of a sparse or ragged argument that eager ops made; of others what they are made of tells more."""
        if at.axis or GIVEN_BY not in at.node.attributes:
            return None
        found = self._stored.rows(at.node, self._run.tensors[at.index].slot, at.rows)
        if found is None and not self._stored.is_row_splits(at.node):
            return None
        return _End(None if found is None else _stored(found))

    def _of_segments(self, at: _Place) -> _End | None:
        """The rows of a ragged batch of which an op put segments together."""
        if at.axis or at.node.op_type not in SEGMENTS:
            return None
        found = self._stored.rows_of_segments(at.node, at.shape[0], at.rows)
        return None if found is None else _End(_stored(found))

    def _of_counts(self, at: _Place) -> _End | None:
        """The rows of texts whose parts an op counted, or that these are looked at next."""
        texts = None
        if at.axis == 0 and at.node.op_type in COUNTS:
            texts = counted_texts(self._run, self._lineage, at.index)
        if texts is None:
            return None
        if texts.index is None:
            return _End(self.unseen(texts, RowWay(0, 0, at.rows)))
        self._meet(texts.index, 0, at.rows)
        return None

    def _of_either(self, at: _Place) -> _End | None:
        """That there are no rows, where two things were multiplied each of which may be the batch."""
        if at.axis:
            return None
        inputs = self._lineage.places(at.index)
        sides = either_side(row_set(self._run, self._lineage, at.index, at.node, 0, at.rows))
        if not sides or not all(self._leads_out(inputs[way.position], way) for way in sides):
            return None
        self._lost = self._lost or of_either(at.node)
        return _End(None)

    def _leads_out(self, item: InputSeen, way: RowWay) -> bool:
        """Whether rows of an input lead to rows of what was given."""
        if item.index is None:
            return self.unseen(item, way) is not None
        return self._search_one((item.index, way.axis, way.rows), self._left // 2) is not None

    def _out_of_list(self, at: _Place) -> _End | None:
        """The rows behind what each turn of a loop put into a list of its own; else what went into it waits."""
        behind = list(self._lists.behind(at.index, at.axis, at.rows))
        if len(behind) > 1 and at.axis == 0:
            share = max(self._left // len(behind), _LEAST_TENSORS)
            return _End(self._joined([self._search_one(place, share) for place in behind]))
        for place in behind:
            self._meet(*place)
        return None

    def _ways(self, at: _Place) -> list[RowWay]:
        step = row_set(self._run, self._lineage, at.index, at.node, at.axis, at.rows)
        return list(whole_ways_back(step) if at.axis == WHOLE else ways_back(step))

    def _of_parts(self, inputs: Sequence[InputSeen], ways: Sequence[RowWay]) -> BatchRows | None:
        """The rows behind all parts of what was joined; all together look at no more than this search may."""
        share = self._left // len(ways)
        known = [(inputs[way.position], way) for way in ways if way.position < len(inputs)]
        return self._joined(
            [
                self.unseen(item, way)
                if item.index is None
                else self._search_one((item.index, way.axis, way.rows), share)
                for item, way in known
            ]
        )

    def _through_op(self, node: Node, inputs: Sequence[InputSeen], ways: Sequence[RowWay]) -> BatchRows | None:
        """The rows of a batch among the inputs that no tensor shows; the others wait."""
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

    def _search_one(self, place: tuple[int, int, Array], most: int) -> BatchRows | None:
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
        if found is not None:
            return _stored(found)
        lookup = self._entries.lookup(node) or self._lookup
        known = lookup is not None and source in (lookup.looked_in, lookup.indices)
        return replace(_batch(rows, source, size), lookup=lookup if known else None)

    def _meet_table(self, node: Node | None) -> None:
        lookup = self._entries.lookup(node)
        if lookup is not None and lookup.is_table:
            self._lookup = lookup


def _parts_differ(at: _Place, ways: Sequence[RowWay]) -> bool:
    """Whether an op joined its inputs along the axis of the rows, so that each has other ones of these."""
    joins = at.node.op_type in CONCATENATIONS | STITCHES | PUTS | {"Pack"}
    return joins and any(not np.array_equal(way.rows, at.rows) for way in ways)


def _stored(found: StoredRows) -> BatchRows:
    rows = tuple(map(int, found.rows))
    return BatchRows(rows, str(found.source), found.size, stored=True, of_elements=found.of_elements)


def _batch(rows: Array, source: str, size: int) -> BatchRows:
    return BatchRows(tuple(int(row) for row in np.unique(rows)), source, size)
