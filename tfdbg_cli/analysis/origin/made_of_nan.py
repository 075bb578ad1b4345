"""The elements that were made of a NaN, followed to where they come out, or to where the program leaves them out.

A comparison or an index that was made of a NaN does no harm where the program masks it afterwards, as metrics do: it
multiplies it by 0, chooses another with tf.where, or gathers the rows beside it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from tfdbg_cli.analysis.graph.branches import was_left_out
from tfdbg_cli.analysis.graph.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.parts import ELEMENTWISE, MISFIT
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import (
    COPIES,
    GATHERS,
    IDENTITIES,
    OF_SHAPES,
    PLACES,
    PRODUCTS,
    RESHAPES,
    SELECTS,
    SORTS,
    TRUTHS,
)

_MOST_TENSORS = 1_000
_BY_ELEMENT = ELEMENTWISE | TRUTHS | IDENTITIES | COPIES | {"Cast"}


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
        if node.op_type in PLACES and len(inputs) == 2:
            along = inputs[1].value
            return None if along is None else _of_shape(np.asarray(marks[0].any(axis=int(along))), shape)
        if node.op_type in SORTS:
            return _of_shape(np.broadcast_to(marks[0].any(axis=-1, keepdims=True), shape), shape)
        return self._marked(node, inputs, marks, shape)

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
            marked = self._marked(node, inputs, marks, shape)
            if marked is None or any(item.name in followed for item in unseen) or not marks:
                return True  # it reads what is followed by a way that cannot be told
            found[index] = marked
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

    def _marked(
        self, node: Node, inputs: Sequence[InputSeen], marks: Mapping[int, Array], shape: Shape
    ) -> Array | None:
        """The elements of a result of `node` that were made of the marked ones of its inputs; None if not known."""
        if not any(mark.any() for mark in marks.values()):
            return np.zeros(shape, bool)
        values = [item.value for item in inputs]
        if node.op_type in SELECTS and len(inputs) == 3:
            return _chosen(values, marks, shape)
        if node.op_type in RESHAPES and list(marks) == [0]:
            return marks[0].reshape(shape) if marks[0].size == int(np.prod(shape, dtype=np.int64)) else None
        if node.op_type in GATHERS and list(marks) == [0] and not int(node.attributes.get("batch_dims") or 0):
            return _taken(values, marks[0], shape)
        if node.op_type in _BY_ELEMENT:
            return _by_element(node, values, marks, shape)
        return np.ones(shape, bool)


def _of_shape(marked: Array, shape: Shape) -> Array | None:
    found = np.asarray(marked, bool)
    return found if found.shape == tuple(shape) else None


def _spread(marked: Array, shape: Shape) -> Array | None:
    """`marked` in the shape of a result by element; None if it does not fit."""
    try:
        return np.broadcast_to(marked, shape)
    except ValueError:
        return None


def _by_element(node: Node, values: Sequence[Array | None], marks: Mapping[int, Array], shape: Shape) -> Array | None:
    """By element: what is multiplied by 0, or decided by the other side, does not depend on the marked one."""
    found = np.zeros(shape, bool)
    for mark in marks.values():
        spread = _spread(mark, shape)
        if spread is None:
            return None
        found = found | spread
    settles = {"LogicalAnd": False, "LogicalOr": True}.get(node.op_type)
    for at, value in enumerate(values):
        if value is None or (settles is None and node.op_type not in PRODUCTS):
            continue
        settled = _spread(value == (0 if settles is None else settles), shape)
        own = _spread(marks[at], shape) if at in marks else np.zeros(shape, bool)
        if settled is None or own is None:
            return None
        found = found & ~(settled & ~own)
    return found


def _chosen(values: Sequence[Array | None], marks: Mapping[int, Array], shape: Shape) -> Array | None:
    """Of tf.where: what is chosen counts, and all where it is not known which is."""
    asked = values[0]
    if asked is None or (asked.ndim != len(shape) and asked.ndim):
        return None  # Select takes whole rows by a vector, which SelectV2 lays along the last axis
    none = np.zeros(shape, bool)
    chosen, unsure, one, other = (
        _spread(mark, shape) for mark in (asked, marks.get(0, none), marks.get(1, none), marks.get(2, none))
    )
    if chosen is None or unsure is None or one is None or other is None:
        return None
    return np.asarray(unsure | np.where(chosen, one, other))


def _taken(values: Sequence[Array | None], marked: Array, shape: Shape) -> Array | None:
    """Of a lookup: the elements that the indices name."""
    indices, along = values[1], values[2] if len(values) > 2 else np.zeros((), np.int64)
    if indices is None or along is None:
        return None
    try:
        return _of_shape(np.take(marked, np.asarray(indices, np.int64), axis=int(along)), shape)
    except (IndexError, ValueError):
        return None
