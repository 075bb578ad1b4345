"""Whether what was given beside a batch stands row for row with it.

That something has as many rows as the batch says little: it may be labels that the program puts in another order, the
order itself, a table, weights of features. So it is followed forward, through ops that keep rows apart, to where it
meets the batch, or as far as it goes, and compared with the rows that the batch has there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from enum import IntEnum, auto
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import RowWay, row_set
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import GATHERS, MOVES, SAME_VALUE, SORTS, TRUTHS

_MOST_TENSORS = 60  # that are computed of one value, and looked at
_MOST_TRIED = 300  # rows of a tensor of which it is tried where each came from
_KEEP_NUMBERS = MOVES | SAME_VALUE.keys()

_Rows: TypeAlias = tuple[int, ...]


class RowEvidence(IntEnum):
    """Whether something stands row for row with a batch; of several findings the last here counts."""

    NONE = auto()
    RATHER_AGAINST = auto()  # it is used in another order, or as no rows, but not together with the batch
    RATHER_FOR = auto()  # it is used in that order, but not together with the batch
    AGAINST = auto()
    FOR = auto()


class Alongside:
    """The values beside one batch."""

    def __init__(self, run: Run, batch: BatchRows) -> None:
        self._run = run
        self._lineage = Lineage(run)
        self._batch = batch
        self._source = tensor_name_of(batch.source)
        # Where the rows of the batch are in what is made of it, and which rows they are anywhere.
        self._there = {made: rows for made, rows, _ in self._forward(self._source) if rows}
        self._orders = {batch.rows, *batch.way.values(), *self._there.values()}

    def keeps_rows(self, name: str) -> RowEvidence:
        """Whether what was given as `name` has for each row of the batch its own, in the order of the batch."""
        first = tensor_name_of(name)
        readers = [reader.op_type for reader, _ in self._run.graph.consumers(first.node)]
        begins = readers and all(updates_variable(reader) or reader == UPDATED_VARIABLE for reader in readers)
        if begins or self._orders_rows(first):
            return RowEvidence.AGAINST
        return max((self._at(*found) for found in self._forward(first)), default=RowEvidence.NONE)

    def meets(self, name: str) -> bool:
        """Whether rows of what was given as `name` come together with the batch, or with what is made of it."""
        made = (made for made, _, _ in self._forward(tensor_name_of(name)))
        return any(one in self._batch.way or one in self._there for one in made)

    def _at(self, made: int, rows: _Rows, ends: bool) -> RowEvidence:
        """What follows from it that what is asked about is these `rows` of tensor `made`, or is used otherwise."""
        own = self._batch.way.get(made)
        if own is not None:
            return RowEvidence.FOR if rows == own else RowEvidence.AGAINST
        if made in self._there:
            return RowEvidence.RATHER_FOR if rows == self._there[made] else RowEvidence.RATHER_AGAINST
        if not ends or (rows and self._size(made) != self._batch.size):
            return RowEvidence.NONE
        return RowEvidence.RATHER_FOR if rows in self._orders else RowEvidence.RATHER_AGAINST

    def _forward(self, first: TensorName) -> Iterator[tuple[int, _Rows, bool]]:
        """The tensors made of `first` at the rows of the batch: which of their rows are, and whether that ends there.

        No rows: it is used as something else, such as axes, a matrix, or a table in which others look up. What meets
        the batch is followed no further.
        """
        waiting: deque[tuple[TensorName, int | None, _Rows]] = deque([(first, None, self._batch.rows)])
        met: set[int] = set()
        while waiting and len(met) < _MOST_TENSORS:
            tensor, at, rows = waiting.popleft()
            ends = True
            for made, positions in self._readers(tensor):
                became = self._became(made, positions, rows)
                if became is None:
                    continue
                ends = False
                if not became:
                    yield made, became, True
                elif made not in met:
                    met.add(made)
                    if made in self._batch.way and first != self._source:
                        yield made, became, False
                    else:
                        waiting.append((self._run.tensors[made].name, made, became))
            if at is not None:
                yield at, rows, ends

    def _readers(self, tensor: TensorName) -> Iterator[tuple[int, set[int]]]:
        """The tensors that are made of `tensor`, and the positions at which their ops read it."""
        for reader, slot in self._run.graph.consumers(tensor.node):
            for made in self._run.tensors.named(reader.name) if slot == tensor.slot else ():
                inputs = enumerate(self._lineage.places(made))
                yield made, {at for at, item in inputs if tensor in (item.name, feed_name(item.node))}

    def _became(self, made: int, positions: set[int], rows: _Rows) -> _Rows | None:
        """Which rows of the tensor `made` are `rows` of the inputs at `positions`; None if these are not known.

        They are none if the op makes its rows of other inputs alone.
        """
        node, size = self._lineage.node(made), self._size(made)
        if node is None or not size:
            return None
        ways = self._ways(node, made, rows) if rows[-1] < size else []
        if any(way.position in positions and tuple(map(int, way.rows)) == rows for way in ways):
            return rows
        if not ways and rows[-1] < size:
            return () if node.op_type in SORTS else None
        if size > _MOST_TRIED:
            return None
        wanted, found, mine = set(rows), [], False
        for row in range(size):
            read = [way for way in self._ways(node, made, (row,)) if way.position in positions]
            mine = mine or bool(read)
            if any(way.rows.size and wanted.issuperset(map(int, way.rows)) for way in read):
                found.append(row)
        if found or (mine and node.op_type not in GATHERS):  # else the rows are cut off there
            return tuple(found) or None
        return () if mine or self._is_across(node, made, positions) else None

    def _is_across(self, node: Node, made: int, positions: set[int]) -> bool:
        """Whether the op reads what is at `positions` for something else than for the same rows."""
        if node.op_type not in ELEMENTWISE and node.op_type not in TRUTHS:
            return True
        rank = len(self._run.tensors[made].shape or ())
        shapes = [item.shape for at, item in enumerate(self._lineage.places(made)) if at in positions]
        return all(shape is not None and len(shape) < rank for shape in shapes)

    def _ways(self, node: Node, made: int, rows: _Rows) -> list[RowWay]:
        step = row_set(self._run, self._lineage, made, node, 0, np.array(rows))
        return [way for way in ways_back(step) if way.axis == 0 and way.position < len(step.inputs)]

    def _size(self, made: int) -> int:
        shape = self._run.tensors[made].shape
        return shape[0] if shape else 0

    def _orders_rows(self, tensor: TensorName) -> bool:
        """Whether `tensor` says which rows of a batch, or of what else was given, an op is to take."""

        def handed_on(one: TensorName) -> Iterator[TensorName]:
            for made, _ in self._readers(one):
                node = self._lineage.node(made)
                if node is not None and node.op_type in _KEEP_NUMBERS:
                    yield self._run.tensors[made].name

        numbers = reached([tensor], handed_on, most=_MOST_TENSORS)
        return any(self._takes_by(made, at) for one in numbers for made, at in self._readers(one))

    def _takes_by(self, made: int, positions: set[int]) -> bool:
        """Whether what is at `positions` says which rows of what was given the tensor `made` is made of."""
        node = self._lineage.node(made)
        gathers = node is not None and node.op_type in GATHERS and 1 in positions
        return gathers and self._is_given(self._lineage.places(made)[0])

    def _is_given(self, item: InputSeen) -> bool:
        """Whether an input of an op is no parameter, but given as the batch is, or made of that."""
        if item.index in self._batch.way or item.name == self._source:
            return True
        fed = item.node is not None and item.index is None and not self._lineage.is_variable(item.node)
        return fed and (item.shape or ())[:1] == (self._batch.size,)
