"""Where the whole of a tensor came from: the one row that an op, or a turn of a loop, took of something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.graph.axes import sliced_axes
from tfdbg_cli.analysis.graph.axes.kept_axes import ways_back
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, RowSet, RowWay
from tfdbg_cli.model.graph import LOOP_VARIABLE
from tfdbg_cli.ops.intended_infinities import LOOKS
from tfdbg_cli.ops.kinds import CALLS, GATHERS, MERGE, NEXT_ITERATION, SPLITS

# What a variable of a loop holds is of all the turns before.
_OF_OTHER_TURNS = frozenset({LOOP_VARIABLE}) | NEXT_ITERATION | MERGE
_NEVER = LOOKS | CALLS | _OF_OTHER_TURNS
_CUTS = GATHERS | SPLITS | {"StridedSlice", "Slice", "Unpack", "GatherNd"}


def whole_ways_back(rows: RowSet) -> list[RowWay]:
    """The row of an input that became all of an op's output, or all of each input.

    A slice may be of the batch, or of what its turn made of one row already: which of both, the search finds out.
    """
    op = rows.node.op_type
    if op in _NEVER:
        return []
    none = np.zeros(0, np.int64)
    if op == "StridedSlice":
        return [*sliced_axes.picked(rows), RowWay(0, WHOLE, none)]
    if op in GATHERS:
        return _gathered(rows)
    if op == "Unpack":
        return [RowWay(0, 0, np.array([rows.slot]))] if rows.attribute("axis") == 0 else []
    return [RowWay(position, WHOLE, none) for position in range(len(rows.inputs))]


def _gathered(rows: RowSet) -> list[RowWay]:
    """What one index chose along the first axis."""
    along = rows.number(2) if len(rows.inputs) > 2 else 0
    index = rows.number(1)
    return [RowWay(0, 0, np.array([index]))] if rows.of(1) == () and along == 0 and index is not None else []


def cut_out(rows: RowSet) -> Iterator[RowWay]:
    """Rows of an input along an axis of it that became all of the output, where the input has more than these."""
    if rows.node.op_type not in _CUTS:
        return
    every = [replace(rows, axis=axis, rows=np.arange(size)) for axis, size in enumerate(rows.shape)]
    kept = [way for along in every for way in ways_back(along)]
    source = 1 if rows.node.op_type == "Split" else 0
    one = [RowWay(source, axis, np.array([place])) for axis, place in _taken_away(rows).items()]
    for way in (*one, *kept):
        shape = rows.of(way.position)
        if way.position != source or shape is None or not 0 <= way.axis < len(shape):
            continue
        if 0 < len(way.rows) < shape[way.axis]:
            yield way


def _taken_away(rows: RowSet) -> Mapping[int, int]:
    """By axis of the first input that the output lacks, the place along it of which the output is made."""
    op, source = rows.node.op_type, rows.of(0)
    if op == "StridedSlice":
        return sliced_axes.indexed(rows)
    if op == "Unpack":
        return {rows.attribute("axis") % (len(rows.shape) + 1): rows.slot}
    if op == "GatherNd" and len(rows.of(1) or ()) == 1 and (places := rows.value(1)) is not None:
        return dict(enumerate(places.tolist()))
    if op in GATHERS and source and rows.of(1) == ():
        along = rows.number(2) if len(rows.inputs) > 2 else 0
        place = rows.number(1)
        return {} if along is None or place is None else {along % len(source): place}
    return {}
