"""Rows behind ops that cut, split, gather, turn round or repeat the elements of their input."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, RowWay


def split(rows: RowSet) -> list[RowWay]:
    """Split and SplitV: parts of one axis."""
    position, named = (1, 0) if rows.node.op_type == "Split" else (0, 2)
    along, source = rows.number(named), rows.of(position)
    if along is None or source is None:
        return []
    if along % len(source) != rows.axis:
        return rows.same(position)
    sizes = rows.value(1) if rows.node.op_type == "SplitV" else None
    start = rows.slot * rows.shape[rows.axis] if sizes is None else int(sizes.reshape(-1)[: rows.slot].sum())
    return [RowWay(position, rows.axis, rows.rows + start)]


def cut(rows: RowSet) -> list[RowWay]:
    """Slice: begin and size along every axis."""
    begin, source = rows.value(1), rows.of(0)
    if source is None or begin is None or begin.size != len(source):
        return []
    return [RowWay(0, rows.axis, rows.rows + int(begin.reshape(-1)[rows.axis]))]


def strided(rows: RowSet) -> list[RowWay]:
    """x[begin:end:stride, …], with axes that an index takes away and new ones (StridedSlice in array_ops.cc)."""
    source, begin, strides = rows.of(0), rows.value(1), rows.value(3)
    if source is None or begin is None or strides is None:
        return []
    axis_in = axis_out = 0
    for kind, i in _spec(rows, begin.size, len(source)):
        if kind == "new":
            if axis_out == rows.axis:
                return []
            axis_out += 1
            continue
        if kind != "index" and axis_out == rows.axis:
            if kind == "all":
                return [RowWay(0, axis_in, rows.rows)]
            step, length = int(strides[i]), source[axis_in]
            first = (0 if step > 0 else length - 1) if kind == "from start" else int(begin[i])
            first = min(max(first + length if first < 0 else first, 0), length)
            return [RowWay(0, axis_in, np.sort(rows.rows * step + first))]
        axis_in, axis_out = axis_in + 1, axis_out + (kind != "index")
    return []


def picked(rows: RowSet) -> list[RowWay]:
    """x[i] and x[i, …]: the row that an index takes of the first axis."""
    place = indexed(rows).get(0)
    return [] if place is None else [RowWay(0, 0, np.array([place]))]


def indexed(rows: RowSet) -> dict[int, int]:
    """By axis of the input of a StridedSlice, the place that an index takes of it: {1: 3} for x[:, 3]."""
    source, begin = rows.of(0), rows.value(1)
    if source is None or begin is None:
        return {}
    entries = [(kind, i) for kind, i in _spec(rows, begin.size, len(source)) if kind != "new"]
    return {
        axis: int(begin[i]) % source[axis]
        for axis, (kind, i) in enumerate(entries)
        if kind == "index" and axis < len(source) and -source[axis] <= int(begin[i]) < source[axis]
    }


def _spec(rows: RowSet, count: int, rank: int) -> list[tuple[str, int]]:
    """What each entry of a StridedSlice does, and its place among `begin`; what was left out takes all."""
    masks = {name: rows.attribute(f"{name}_mask") for name in ("begin", "ellipsis", "new_axis", "shrink_axis")}
    kinds = [
        "rest" if masks["ellipsis"] >> i & 1
        else "new" if masks["new_axis"] >> i & 1
        else "index" if masks["shrink_axis"] >> i & 1
        else "from start" if masks["begin"] >> i & 1
        else "range"
        for i in range(count)
    ]  # fmt: skip
    left_out = rank - sum(kind not in ("new", "rest") for kind in kinds)
    kinds_in_place = list(zip([*kinds, *([] if "rest" in kinds else ["rest"])], range(count + 1), strict=False))
    found: list[tuple[str, int]] = []
    for kind, i in kinds_in_place:
        found += [("all", i)] * left_out if kind == "rest" else [(kind, i)]
    return found


def padded(rows: RowSet) -> list[RowWay]:
    """Rows inside of what was added around."""
    source, pads = rows.of(0), rows.value(1)
    if source is None or pads is None or pads.shape != (len(source), 2):
        return []
    inside = rows.rows - int(pads[rows.axis, 0])
    inside = inside[(inside >= 0) & (inside < source[rows.axis])]
    return [RowWay(0, rows.axis, inside)] if inside.size else []


def reversed(rows: RowSet) -> list[RowWay]:
    """ReverseV2."""
    along, rank = rows.value(1), len(rows.shape)
    if along is None:
        return []
    flipped = rows.axis in {int(axis) % rank for axis in along.flat}
    return [RowWay(0, rows.axis, np.sort(rows.shape[rows.axis] - 1 - rows.rows))] if flipped else rows.same(0)


def rolled(rows: RowSet) -> list[RowWay]:
    """Roll: places move on along some axes, round the end."""
    shifts, along, rank = rows.value(1), rows.value(2), len(rows.shape)
    if shifts is None or along is None or shifts.size != along.size:
        return []
    pairs = zip(shifts.flat, along.flat, strict=True)
    shift = sum(int(by) for by, axis in pairs if int(axis) % rank == rows.axis)
    return [RowWay(0, rows.axis, np.sort((rows.rows - shift) % rows.shape[rows.axis]))]


def repeated(rows: RowSet) -> list[RowWay]:
    """Tile."""
    source = rows.of(0)
    if source is None or len(source) != len(rows.shape) or not source[rows.axis]:
        return []
    return [RowWay(0, rows.axis, np.unique(rows.rows % source[rows.axis]))]


def gathered(rows: RowSet) -> list[RowWay]:
    """The rows of the table that the indices name, and the indices: feeds may be put in order by other feeds."""
    table, indices = rows.of(0), rows.of(1)
    along = rows.number(2) if len(rows.inputs) > 2 else 0
    if indices is None or along is None:
        return []
    apart = rows.attribute("batch_dims")
    if apart:  # one table for each row, and one row of indices
        return [*rows.same(0), *rows.same(1)] if rows.axis < apart else []
    if along and table is not None:
        along %= len(table)
    if along <= rows.axis < along + len(indices):
        found = rows.same(1, rows.axis - along)
        chosen = rows.value(1)
        if chosen is not None and table is not None:
            found.insert(0, RowWay(0, along, np.unique(np.take(chosen, rows.rows, rows.axis - along))))
        return found
    return rows.same(0, rows.axis if rows.axis < along else rows.axis - len(indices) + 1)
