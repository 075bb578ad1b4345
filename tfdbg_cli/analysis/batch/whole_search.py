"""The one row of the batch that all of a tensor was made of, where a program takes rows one by one, outside of loops.

So it is of `x[3]`, of an output of tf.unstack or tf.split, and of all that is computed of it, sums included. Here all
ways back have to lead to that row: what was made of other rows, too, or of a whole batch, is of no row alone.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.row_axis import given_shape, why_no_rows
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, RowWay, row_set
from tfdbg_cli.analysis.graph.axes.whole_items import cut_out
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage, variable_of
from tfdbg_cli.analysis.graph.making.parts import value_inputs
from tfdbg_cli.model.graph import LOOP_VARIABLE, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.intended_infinities import LOOKS
from tfdbg_cli.ops.kinds import CALLS, JOINS, LITERALS, MERGE, NEXT_ITERATION, WHERE_INPUTS

_MOST_TENSORS = 1_000
_MOST_CUTS = 20  # whose rows are looked for, each by a search of its own
# What they give may be of anything that a call was given, or of other turns.
_OF_ANYTHING = CALLS | MERGE | NEXT_ITERATION | {LOOP_VARIABLE}


class Entries(Protocol):
    """Where batches come in, and the way back from rows of a tensor to one."""

    def enters(self, node: Node) -> bool:
        """Whether a batch comes into the graph at `node`."""

    def is_no_batch(self, item: InputSeen) -> bool:
        """Whether a value that no tensor of the run shows is no batch."""

    def rows_behind(self, item: InputSeen, way: RowWay) -> BatchRows | None:
        """The rows of the batch behind some rows of an input; None where there are none."""

    def leads_across(self, index: int, source: str) -> bool:
        """Whether an axis of the tensor at `index` leads along axis 1 of what came in as `source`."""

    def out_of_list(self, index: int) -> list[tuple[int, int, Array]] | None:
        """What the tensor at `index`, taken out of a list, was there; None where it was in none."""


class WholeSearch:
    """The way back from the whole of one tensor; at the nodes that `through` names only by that input.

    Not so at those that join tensors: of a sum of what was joined the values name one part where all are alike, too.
    """

    def __init__(self, run: Run, lineage: Lineage, entries: Entries, through: Mapping[str, int]) -> None:
        self._run = run
        self._lineage = lineage
        self._entries = entries
        self._through = through
        self._waiting: deque[int] = deque()
        self._met: set[int] = set()
        self._cuts: dict[tuple[object, int, tuple[int, ...]], BatchRows | None] = {}
        self._whole: dict[TensorName, Shape] = {}  # what came in, and was not cut
        self.lost = ""
        """Why the row that was found is none of a batch, in words; else empty."""

    def back(self, index: int) -> BatchRows | None:
        """The row behind all of the tensor at `index`; None where it is of several, of none, or nobody knows."""
        found = self._cuts_behind(index)
        if not found:
            return None
        ranks = [self._rank(cut) for cut in found]
        best = found[ranks.index(max(ranks))]
        alike = all(cut.size != best.size or cut.rows == best.rows for cut in found)
        if not alike or len(best.rows) != 1:
            return None
        if self._through:  # what is beside the way may be the batch, too
            beside = WholeSearch(self._run, self._lineage, self._entries, {})
            if not beside._cuts_behind(index):
                return None
            self._whole.update(beside._whole)
        other = self._whole_beside(best, max(ranks))
        if other is not None:
            self.lost = f"beside a row of {best.source} all of {other} was read, which may be the batch"
            return None
        used = self._whole.keys()
        self.lost = why_no_rows(
            self._run, self._lineage, best.source, used, lambda: self._entries.leads_across(index, best.source)
        )
        return None if self.lost else best

    def _cuts_behind(self, index: int) -> list[BatchRows]:
        """The rows of batches that were cut out for what made the tensor; empty, too, where it may be of anything."""
        self._meet(index)
        while self._waiting:
            if (
                len(self._met) > _MOST_TENSORS
                or len(self._cuts) > _MOST_CUTS
                or not self._step(self._waiting.popleft())
            ):
                return []
        return [cut for cut in self._cuts.values() if cut is not None]

    def _meet(self, index: int) -> None:
        if index not in self._met:
            self._met.add(index)
            self._waiting.append(index)

    def _step(self, index: int) -> bool:
        """Go on from the whole of the tensor at `index`; False where it may be of anything."""
        node, shape = self._lineage.node(index), self._run.tensors[index].shape
        if node is None or node.op_type in _OF_ANYTHING:
            return False
        if node.op_type in LOOKS or self._is_variable(node):
            return True
        if self._entries.enters(node):
            self._whole[self._run.tensors[index].name] = shape or ()
            return True
        inputs = self._lineage.places(index)
        listed = self._entries.out_of_list(index)
        if listed is not None:
            return bool(listed) and all([self._listed(one) for one in listed])
        cuts = list(cut_out(row_set(self._run, self._lineage, index, node, WHOLE, np.zeros(0, np.int64))))
        where = WHERE_INPUTS.get(node.op_type, frozenset())
        positions = [at for at in value_inputs(node.op_type, len(inputs)) if at not in where]
        only = None if node.op_type in JOINS else self._through.get(node.name)
        positions = [only] if only in positions else positions
        return all([self._input(inputs[at], [way for way in cuts if way.position == at]) for at in positions])

    def _listed(self, place: tuple[int, int, Array]) -> bool:
        index, axis, rows = place
        item = InputSeen(self._run.tensors[index].name, self._lineage.node(index), index, self._run.tensors[index])
        return self._input(item, [] if axis == WHOLE else [RowWay(0, axis, rows)])

    def _input(self, item: InputSeen, cuts: Sequence[RowWay]) -> bool:
        """Go on from an input, or from what was cut out of it; False where it is not known."""
        if item.node is not None and self._is_variable(item.node):
            return True
        if any([self._cut(item, way) for way in cuts]):
            return True
        if item.index is not None:
            self._meet(item.index)
            return True
        if item.node is not None and (item.node.op_type in LITERALS or self._entries.is_no_batch(item)):
            return True
        self._whole[item.name] = item.shape or ()
        return item.value is not None

    def _cut(self, item: InputSeen, way: RowWay) -> bool:
        """Whether some rows of an input, which became all of an op's output, are rows of a batch."""
        key = (item.name if item.index is None else item.index, way.axis, tuple(way.rows.tolist()))
        if key not in self._cuts:
            self._cuts[key] = self._entries.rows_behind(item, way) if len(self._cuts) < _MOST_CUTS else None
        return self._cuts[key] is not None

    def _is_variable(self, node: Node) -> bool:
        return node.op_type == UPDATED_VARIABLE or variable_of(node, self._lineage) is not None

    def _whole_beside(self, found: BatchRows, rank: int) -> TensorName | None:
        """What came in, and was not cut, if it may be the batch rather than what rows were `found` of."""
        read = ((name, shape) for name, shape in self._whole.items() if math.prod(shape) > 1)
        return next((name for name, shape in read if len(shape) >= rank or shape[0] == found.size), None)

    def _rank(self, found: BatchRows) -> int:
        shape = given_shape(self._run, found.source)
        return 1 if shape is None else len(shape)
