"""Which rows of the batch are behind the offending elements of a tensor, followed back through the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import NO_ROWS, BatchRows, lost_at
from tfdbg_cli.analysis.batch.compared_rows import along_axes, may_compare_rows, rows_of_several_axes
from tfdbg_cli.analysis.batch.explaining_rows import Explanation, explaining_rows
from tfdbg_cli.analysis.batch.row_search import RowSearch
from tfdbg_cli.analysis.batch.tensor_lists import TensorLists
from tfdbg_cli.analysis.graph.axes.row_ways import WHOLE, RowWay
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE, Index
from tfdbg_cli.analysis.graph.ways.element_way import NOWHERE, ElementSteps, LoneOrigin, element_way, lone_origin
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array

_MOST_ROWS = 1 << 20  # no batch that anybody looks into has more that are bad
_MOST_ELEMENTS = 64  # that are followed one by one
_MOST_SEARCHED = 1 << 24  # elements of a tensor of which more are bad: each search takes a byte for all of them
_MOST_LISTS = 20  # one behind the other
_MOST_PASSED = 20_000  # tensors on the ways of all of them


def batch_rows(run: Run, lineage: Lineage, index: int, bad: Array, through: Mapping[str, int] = NOWHERE) -> BatchRows:
    """The rows of a batch behind the elements of tensor `index` where `bad` is True.

    They are followed axis by axis, through ops that keep rows apart, to the first axis of what was fed, given as an
    argument, or delivered by an input pipeline. Of several axes that lead there the one counts that tells rows apart
    best. `NO_ROWS` when none does. At the nodes that `through` names only the input at that position is followed, if
    that leads there; all others may rule out some of its rows.
    """
    if _has_one_row_for_all(run, lineage, index, through):
        return _by_all_ways(run, lineage, index, bad, NO_ROWS)
    by_way = _rows_behind(run, lineage, index, bad, through) if through else NO_ROWS
    if _is_told_by(by_way, index, bad):
        return by_way
    by_axes = _by_all_ways(run, lineage, index, bad, by_way)
    return _of_each_element(run, lineage, index, bad, through, by_axes)


def _has_one_row_for_all(run: Run, lineage: Lineage, index: int, through: Mapping[str, int]) -> bool:
    """Whether the input to blame has one row, which the op that made the tensor at `index` takes for all of its rows.

    That is none of a batch: `x / scales`, with scales of one row.
    """
    node, shape = lineage.node(index), run.tensors[index].shape
    position = None if node is None else through.get(node.name)
    if node is None or position is None or node.op_type not in ELEMENTWISE:
        return False
    inputs = lineage.places(index)
    one = inputs[position].shape if position < len(inputs) else None
    return bool(one and shape and len(one) == len(shape) and one[0] == 1 < shape[0])


def _of_all_elements(run: Run, lineage: Lineage, index: int, bad: Array, through: Mapping[str, int]) -> BatchRows:
    """The rows behind all elements where `bad` is True together."""
    by_way = _rows_behind(run, lineage, index, bad, through) if through else NO_ROWS
    return by_way if _is_told_by(by_way, index, bad) else _by_all_ways(run, lineage, index, bad, by_way)


def _is_told_by(by_way: BatchRows, index: int, bad: Array) -> bool:
    """Whether the one way that the values tell leads to one row alone, and from one place of tensor `index`.

    What is bad in other places of it may have come by other inputs of an op on that way.
    """
    from_one = np.count_nonzero(bad) == 1 or len(by_way.way.get(index, ())) == 1
    return len(by_way.rows) == 1 and from_one and not may_compare_rows(bad, by_way)


def _by_all_ways(run: Run, lineage: Lineage, index: int, bad: Array, by_way: BatchRows) -> BatchRows:
    """The rows to which all ways lead, where these tell more than `by_way`, those to which one leads."""
    by_all = _rows_behind(run, lineage, index, bad, NOWHERE)
    if may_compare_rows(bad, by_all) and not by_all.rows:
        return by_all
    return by_all if not by_way.rows or _may_tell_more(bad, by_all, by_way) else by_way


def _of_each_element(
    run: Run, lineage: Lineage, index: int, bad: Array, through: Mapping[str, int], by_axes: BatchRows
) -> BatchRows:
    """The rows to which the bad elements lead one by one; `by_axes`, those of their axes, where one leads to none.

    Each is followed to the place that it was moved from, and by the values that made it: of a window over the batch,
    of rows looked up, and of rows compared with others, an axis leads to more rows than were to blame, or to others.
    Where rows were compared, all comparisons together tell most. Of too many elements one in each row of the tensor
    is followed, which may add rows to those of the axes, or make some of these doubtful.
    """
    places, followed_all = _followed(bad)
    if by_axes.stored or not len(places):
        return by_axes
    node = lineage.node(index)
    first = None if node is None else through.get(node.name)
    steps = ElementSteps(run, lineage)
    together, compared = NO_ROWS, may_compare_rows(bad, by_axes)
    groups: list[tuple[int, ...]] = []
    pairs = False
    way: dict[int, tuple[int, ...]] = {}
    lists, passed = TensorLists(run, lineage), 0
    for place in places:
        element = tuple(map(int, place))
        way_of_one = element_way(run, lineage, index, element, first, steps)
        begin = _lone_origin(steps, lists, index, element, way_of_one)
        if not by_axes.rows and len((begin.places or begin.elements)[0]) > bad.ndim:
            why_none = _why_no_row_of_whole(run, lineage, index)
            if why_none:  # the place along the first axis is none of a row
                return replace(by_axes, lost=why_none)
        found = _of_one(run, lineage, begin, way_of_one)
        if begin.given is None and not found.rows and _compares_there(run, begin, found):
            return found
        if not found.rows or (together.rows and replace(found, rows=together.rows) != together):
            lost = found.lost or by_axes.lost or _end_at(lineage, begin)
            return by_axes if by_axes.rows else replace(by_axes, lost=lost)
        together = replace(found, rows=tuple(sorted({*together.rows, *found.rows})))
        groups.append(found.rows)
        pairs = pairs or (index != begin.row and _compares_there(run, begin, found))
        passed += len(found.way)
        if passed > _MOST_PASSED or (compared and not set(together.rows) < set(by_axes.rows)):
            return by_axes
        for at, those in found.way.items():
            way[at] = tuple(sorted({*way.get(at, ()), *those}))
    if pairs:
        told = explaining_rows(groups) if followed_all else Explanation()
        return replace(together, rows=told.rows, way=way) if told.rows else _not_told(together.size, told)
    if not followed_all and not set(together.rows) > set(by_axes.rows):
        each = (
            len(places) == np.count_nonzero(along_axes(bad, 0)) and replace(by_axes, rows=together.rows) == together
        )
        return replace(by_axes, doubtful=_others(by_axes, together)) if each else by_axes
    return replace(together, way=way)


def _others(found: BatchRows, told: BatchRows) -> tuple[int, ...]:
    """The rows that were `found` and are not among those `told`; none where these are no part of them."""
    rows = set(found.rows)
    return tuple(sorted(rows - set(told.rows))) if rows > set(told.rows) else ()


def _why_no_row_of_whole(run: Run, lineage: Lineage, index: int) -> str:
    """Why the place along an axis that all of a tensor was taken at is no row, in words; empty for any other."""
    search = RowSearch(run, lineage, NOWHERE)
    return "" if search.back(index, WHOLE, np.zeros(0, np.int64)) is not None else search.lost


def _followed(bad: Array) -> tuple[Array, bool]:
    """The places of the bad elements that are followed one by one, and whether these are all.

    Of too many they are the first in each row of the tensor, of so many rows, and none of a tensor that is too large.
    """
    if np.count_nonzero(bad) <= _MOST_ELEMENTS:
        return np.argwhere(bad), True
    if bad.size > _MOST_SEARCHED:
        return np.zeros((0, bad.ndim), np.int64), False
    flat, in_a_row, found, at = bad.reshape(-1), bad[0].size, list[int](), 0
    while len(found) < _MOST_ELEMENTS and at < flat.size and flat[at:].any():
        found.append(at + int(flat[at:].argmax()))
        at = (found[-1] // in_a_row + 1) * in_a_row
    return np.stack(np.unravel_index(found, bad.shape), axis=1), False


def _compares_there(run: Run, origin: LoneOrigin, found: BatchRows) -> bool:
    """Whether an element comes from a tensor in which rows of the batch that was `found` are compared with rows."""
    return origin.given is None and (run.tensors[origin.row].shape or ()).count(found.size) > 1


def _lone_origin(
    steps: ElementSteps, lists: TensorLists, index: int, element: Index, way: Mapping[str, int]
) -> LoneOrigin:
    """As `lone_origin`, also through lists of tensors."""
    origin = lone_origin(steps, index, element, way)
    for _ in range(_MOST_LISTS):
        item = lists.element(origin.row, origin.elements[0]) if len(origin.elements) == 1 else None
        if item is None or item[0] >= origin.row:
            break
        origin = lone_origin(steps, *item, way)
    return origin


def _of_one(run: Run, lineage: Lineage, origin: LoneOrigin, way: Mapping[str, int]) -> BatchRows:
    """The rows behind one element, which comes from that `origin`, and by that `way`."""
    if origin.given is not None:
        found = rows_of_given(run, lineage, origin.given, _mask(origin.given.shape or (), origin.places))
        if found.rows:
            return found
    mask = _mask(run.tensors[origin.row].shape or (), origin.elements)
    return _of_all_elements(run, lineage, origin.row, mask, way)


def _end_at(lineage: Lineage, origin: LoneOrigin) -> str:
    """Where an element was followed no further, in words; empty where its op computes it of one of each input."""
    node = lineage.node(origin.row)
    return "" if node is None or not node.inputs or node.op_type in ELEMENTWISE else lost_at(node)


def _mask(shape: Shape, places: Sequence[Index]) -> Array:
    """Where these places are, in an array of that shape."""
    mask = np.zeros(shape, np.bool_)
    for place in places:
        mask[place] = True
    return mask


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
    lost = ""
    for axis in range(bad.ndim if bad.any() else 0):
        along = along_axes(bad, axis)
        if np.count_nonzero(along) > _MOST_ROWS:
            continue
        search = RowSearch(run, lineage, through)
        found = search.back(index, axis, np.flatnonzero(along))
        if found is None or not found.rows:
            lost = lost or search.lost
            continue
        behind[axis] = found
        if not best.rows or len(found.rows) < len(best.rows):
            best = found
        if len(best.rows) == 1 and not may_compare_rows(bad, best):
            break
    if not best.rows and bad.any():  # what a turn of a loop made is all of the row that the turn took
        search = RowSearch(run, lineage, through)
        best = search.back(index, WHOLE, np.zeros(0, np.int64)) or best
        lost = search.lost or lost
    if not best.rows:
        return replace(NO_ROWS, lost=lost)
    same = {axis: found for axis, found in behind.items() if replace(found, rows=best.rows) == best}
    told = rows_of_several_axes(same, bad) if len(same) > 1 else Explanation(best.rows)
    return replace(best, rows=told.rows) if told.rows else _not_told(best.size, told)


def _not_told(size: int, told: Explanation) -> BatchRows:
    """No rows of a batch of that `size`, of which rows are compared with each other."""
    return replace(NO_ROWS, size=size, lost=told.why_none)
