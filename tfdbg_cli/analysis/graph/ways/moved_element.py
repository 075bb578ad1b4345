"""Where an op took an element from that it only moved: out of a slice, a split, a table, another order of axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.moved_places import MADE_AGAIN, moved_place
from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, row_set
from tfdbg_cli.analysis.graph.axes.sliced_axes import indexed
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.parts import MISFIT, Index, PartIndex
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.ops.kinds import GATHERS, RESHAPES


def moved_from(run: Run, lineage: Lineage, row: int, node: Node, element: Index) -> tuple[int, PartIndex] | None:
    """The position of the input from which `node` took the `element` of the tensor at `row`, and its place there.

    None stands for a place along an axis where the op does not say it. The result is None where the element may have
    come out of several inputs, or out of none. Of a table and indices it is the table.
    """
    whole = row_set(run, lineage, row, node, 0, np.zeros(0, np.int64))
    if node.op_type in RESHAPES:
        return _reshaped(whole.inputs, whole.shape, element)
    if node.op_type in MADE_AGAIN:
        return moved_place(whole, element)
    try:
        return _composed(whole, element)
    except MISFIT:
        return None


def _composed(whole: RowSet, element: Index) -> tuple[int, PartIndex] | None:
    """As `moved_from`, out of the places along each axis."""
    op_type = whole.node.op_type
    found: dict[int, dict[int, int | None]] = {}
    for axis, place in enumerate(element):
        for way in ways_back(replace(whole, axis=axis, rows=np.array([place]))):
            found.setdefault(way.position, {})[way.axis] = int(way.rows[0]) if way.rows.size == 1 else None
    fixed = _FIXED.get(op_type)
    if fixed is not None:
        found.setdefault(0, {}).update(fixed(whole, element))
    position = 0 if op_type in GATHERS else next(iter(found), None)
    source = None if position is None or position not in found else whole.inputs[position]
    if position is None or source is None or (len(found) > 1 and op_type not in GATHERS):
        return None
    return position, tuple(found[position].get(axis) for axis in range(len(source)))


def _reshaped(shapes: Sequence[Shape | None], shape: Shape, element: Index) -> tuple[int, PartIndex] | None:
    source = shapes[0] if shapes else None
    try:
        flat = np.ravel_multi_index(element, shape) if shape else 0
        return None if source is None else (0, tuple(map(int, np.unravel_index(flat, source))) if source else ())
    except MISFIT:
        return None


def _of_slot(whole: RowSet, element: Index) -> Mapping[int, int]:
    """Unpack, each output of which is a place along one axis."""
    return {whole.attribute("axis") % (len(element) + 1): whole.slot}


def _of_table(whole: RowSet, element: Index) -> Mapping[int, int]:
    """A lookup: the place that an index names."""
    indices, apart = whole.value(1), whole.attribute("batch_dims")
    along = whole.number(2) if len(whole.inputs) > 2 else 0
    table = whole.of(0)
    if indices is None or along is None or table is None:
        return {}
    along %= max(len(table), 1)
    behind = along + indices.ndim - apart
    place = int(indices[(*element[:apart], *element[along:behind])])
    return dict(enumerate((*element[:along], place, *element[behind:])))


_FIXED: Mapping[str, Callable[[RowSet, Index], Mapping[int, int]]] = {
    "Unpack": _of_slot,
    "StridedSlice": lambda whole, _: indexed(whole),
    **dict.fromkeys(GATHERS, _of_table),
}
