"""Which rows of the batch are behind the offending elements of a tensor, followed back through the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import NO_ROWS, BatchRows
from tfdbg_cli.analysis.batch.compared_rows import along_axes, may_compare_rows, rows_of_several_axes
from tfdbg_cli.analysis.batch.row_search import RowSearch
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, RowWay
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.ways.element_way import NOWHERE, ElementSteps, element_way, lone_origin
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array

_MOST_ROWS = 1 << 20  # no batch that anybody looks into has more that are bad
_MOST_ELEMENTS = 64  # that are followed one by one


def batch_rows(run: Run, lineage: Lineage, index: int, bad: Array, through: Mapping[str, int] = NOWHERE) -> BatchRows:
    """The rows of a batch behind the elements of tensor `index` where `bad` is True.

    They are followed axis by axis, through ops that keep rows apart, to the first axis of what was fed, given as an
    argument, or delivered by an input pipeline. Of several axes that lead there the one counts that tells rows apart
    best. `NO_ROWS` when none does. At the nodes that `through` names only the input at that position is followed, if
    that leads there; all others may rule out some of its rows.
    """
    found = _of_all_elements(run, lineage, index, bad, through)
    return _of_each_element(run, lineage, index, bad, through, found) if len(found.rows) > 1 else found


def _of_all_elements(run: Run, lineage: Lineage, index: int, bad: Array, through: Mapping[str, int]) -> BatchRows:
    """The rows behind all elements where `bad` is True together."""
    found = _rows_behind(run, lineage, index, bad, through) if through else NO_ROWS
    if len(found.rows) == 1 and not may_compare_rows(bad, found):
        return found
    by_all = _rows_behind(run, lineage, index, bad, NOWHERE)
    return by_all if not found.rows or _may_tell_more(bad, by_all, found) else found


def _of_each_element(
    run: Run, lineage: Lineage, index: int, bad: Array, through: Mapping[str, int], by_all: BatchRows
) -> BatchRows:
    """`by_all`, the rows to which the axes of all bad elements lead, without those to which no element leads.

    Elements are followed one by one, each by the place that it was moved from, and by the values that made it: of a
    window over the batch, and of rows compared with others, an axis leads to more rows than were to blame.
    """
    if by_all.stored or np.count_nonzero(bad) > _MOST_ELEMENTS:
        return by_all
    node = lineage.node(index)
    first = None if node is None else through.get(node.name)
    steps = ElementSteps(run, lineage)
    rows: set[int] = set()
    way: dict[int, tuple[int, ...]] = {}
    for place in np.argwhere(bad):
        element = tuple(map(int, place))
        way_of_one = element_way(run, lineage, index, element, first, steps)
        row, moved = lone_origin(steps, index, element, way_of_one)
        alone = np.zeros(run.tensors[row].shape or (), np.bool_)
        alone[moved] = True
        found = _of_all_elements(run, lineage, row, alone, way_of_one)
        if not found.rows or replace(found, rows=by_all.rows) != by_all:
            return by_all
        rows.update(found.rows)
        if not rows < set(by_all.rows):  # the others can rule out none of these
            return by_all
        for at, those in found.way.items():
            way[at] = tuple(sorted({*way.get(at, ()), *those}))
    return replace(by_all, rows=tuple(sorted(rows)), way=way)


def rows_of_given(run: Run, lineage: Lineage, given: InputSeen, bad: Array) -> BatchRows:
    """The rows of the batch behind the elements of `given` where `bad` is True, an input that no tensor shows.

    So it is of what eager code is given from before. `NO_ROWS` when `given` is no batch.
    """
    rows = np.flatnonzero(along_axes(bad, 0)) if bad.ndim else np.zeros(0, np.int64)
    if not 0 < len(rows) <= _MOST_ROWS:
        return NO_ROWS
    return RowSearch(run, lineage, NOWHERE).unseen(given, RowWay(0, 0, rows)) or NO_ROWS


def _may_tell_more(bad: Array, by_all: BatchRows, found: BatchRows) -> bool:
    """Whether the rows to which all ways lead, `by_all`, say more of the batch than those that one way has `found`.

    Fewer rows do. So do others where rows were compared with rows: one way leads to one side of it.
    """
    if replace(by_all, rows=found.rows) != found:
        return False
    one, all_ways = set(found.rows), set(by_all.rows)
    return all_ways < one or (may_compare_rows(bad, found) and one != all_ways)


def _rows_behind(run: Run, lineage: Lineage, index: int, bad: Array, through: Mapping[str, int]) -> BatchRows:
    best = NO_ROWS
    behind: dict[int, BatchRows] = {}  # by the axis that leads there
    for axis in range(bad.ndim if bad.any() else 0):
        along = along_axes(bad, axis)
        if np.count_nonzero(along) > _MOST_ROWS:
            continue
        found = RowSearch(run, lineage, through).back(index, axis, np.flatnonzero(along))
        if found is None or not found.rows:
            continue
        behind[axis] = found
        if not best.rows or len(found.rows) < len(best.rows):
            best = found
        if len(best.rows) == 1 and not may_compare_rows(bad, best):
            break
    if not best.rows and bad.any():  # what a turn of a loop made is all of the row that the turn took
        best = RowSearch(run, lineage, through).back(index, WHOLE, np.zeros(0, np.int64)) or best
    same = {axis: found for axis, found in behind.items() if replace(found, rows=best.rows) == best}
    return replace(best, rows=rows_of_several_axes(same, bad)) if len(same) > 1 else best
