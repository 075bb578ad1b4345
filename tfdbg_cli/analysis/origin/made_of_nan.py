"""The elements that were made of a NaN, followed to where they come out, or to where the program leaves them out.

A comparison or an index that was made of a NaN does no harm where the program masks it afterwards, as metrics do: it
multiplies it by 0, chooses another with tf.where, or gathers the rows beside it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection

from tfdbg_cli.analysis.graph.flow.branches import was_left_out
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.parts import MISFIT
from tfdbg_cli.analysis.origin.element_marks import marked_of
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import OF_SHAPES

_MOST_TENSORS = 1_000


class MadeOfNaN:
    """Follows elements in one run: `comes_out` says of a tensor that it is part of what comes out of it.

    `needed` are the nodes on which something that comes out depends.
    """

    def __init__(
        self, run: Run, lineage: Lineage, comes_out: Callable[[TensorName], bool], needed: Collection[str]
    ) -> None:
        self._run, self._lineage, self._comes_out, self._needed = run, lineage, comes_out, needed

    def counts(self, index: int) -> bool:
        """Whether an element of the tensor at `index` that was made of a NaN comes out, or nobody can tell."""
        try:
            first = self._first(index)
            return first is None or self._gets_out(index, first)
        except MISFIT:  # a damaged recording, in which a value does not fit its op
            return True

    def _first(self, index: int) -> Array | None:
        """The elements of the tensor at `index` that were made of NaN in what it reads; None if not known."""
        node, shape = self._lineage.node(index), self._run.tensors[index].shape
        inputs = self._lineage.inputs(index)
        if node is None or shape is None or any(item.value is None for item in inputs):
            return None
        marks = {at: nan_mask(item.value) for at, item in enumerate(inputs) if item.value is not None}
        return marked_of(node, [item.value for item in inputs], marks, shape)

    def _gets_out(self, start: int, first: Array) -> bool:
        found, waiting = {start: first}, list[int]()
        followed = {self._run.tensors[start].name}
        done: set[int] = set()
        if self._leads_on(start, first, waiting):
            return True
        while waiting:
            index = heapq.heappop(waiting)  # in order of time: all that it reads is known
            if index in done:
                continue
            done.add(index)
            node, shape = self._lineage.node(index), self._run.tensors[index].shape
            if node is None or shape is None or len(done) > _MOST_TENSORS:
                return True
            inputs = self._lineage.inputs(index)
            marks = {at: found[item.index] for at, item in enumerate(inputs) if item.index in found}
            unseen = (item for at, item in enumerate(inputs) if at not in marks)
            if any(item.name in followed for item in unseen) or not marks:
                return True  # it reads what is followed by a way that cannot be told
            marked = found[index] = marked_of(node, [item.value for item in inputs], marks, shape)
            followed.add(self._run.tensors[index].name)
            if self._leads_on(index, marked, waiting):
                return True
        return False

    def _leads_on(self, index: int, marked: Array, waiting: list[int]) -> bool:
        """Whether the `marked` elements at `index` come out; if not, have their readers wait."""
        if not marked.any():
            return False
        name = self._run.tensors[index].name
        if self._comes_out(name):
            return True
        for reader, slot in self._run.graph.consumers(name.node):
            if slot != name.slot or reader.op_type in OF_SHAPES or reader.name not in self._needed:
                continue
            rows = self._run.tensors.named(reader.name)
            if not rows and was_left_out(self._run.graph, self._run.tensors, reader):
                continue
            if not rows or any(self._run.tensors[row].execution for row in rows):
                return True  # not seen, or as often as a loop turns
            for row in rows:
                heapq.heappush(waiting, row)
        return False
