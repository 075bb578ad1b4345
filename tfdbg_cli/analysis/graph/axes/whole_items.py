"""Where the whole of a tensor came from that a turn of a loop made: the one row that it took of something."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.graph.axes import sliced_axes
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, RowSet, RowWay
from tfdbg_cli.model.graph import LOOP_VARIABLE
from tfdbg_cli.ops.intended_infinities import LOOKS
from tfdbg_cli.ops.kinds import CALLS, GATHERS, MERGE, NEXT_ITERATION

# What a variable of a loop holds is of all the turns before.
_OF_OTHER_TURNS = frozenset({LOOP_VARIABLE}) | NEXT_ITERATION | MERGE
_NEVER = LOOKS | CALLS | _OF_OTHER_TURNS


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
