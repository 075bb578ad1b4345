"""Rows behind ops that take elements from places, or put them at places, that another input names one by one."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, RowWay


def gathered_nd(rows: RowSet) -> list[RowWay]:
    """GatherNd: each index names a place along the first axes of the table."""
    table, indices = rows.of(0), rows.of(1)
    if table is None or not indices or indices[-1] > len(table):
        return []
    named, apart = indices[-1], len(indices) - 1
    if rows.axis >= apart:
        return rows.same(0, named + rows.axis - apart)
    chosen = rows.value(1)
    if chosen is None or not named:
        return []
    places = np.take(chosen, rows.rows, axis=rows.axis)
    return [RowWay(0, axis, np.unique(places[..., axis]), inner=axis > 0) for axis in range(named)]


def scattered_nd(rows: RowSet) -> list[RowWay]:
    """ScatterNd: each update is put at, or added to, the place that its index names along the first axes."""
    return _put(rows, 0, 1)


def updated_nd(rows: RowSet) -> list[RowWay]:
    """TensorScatterUpdate and its like: some places of a tensor get something else, or something is added there."""
    put, places = _put(rows, 1, 2), rows.value(1)
    if rows.node.op_type != "TensorScatterUpdate" or rows.axis or places is None or places.shape[1:] != (1,):
        return [*rows.same(0), *put]
    kept = rows.rows[~np.isin(rows.rows, places[:, 0])]
    return [*([RowWay(0, 0, kept)] if kept.size else []), *put]


def _put(rows: RowSet, indices: int, updates: int) -> list[RowWay]:
    shape, places = rows.of(indices), rows.value(indices)
    if not shape:
        return []
    if rows.axis >= shape[-1]:
        return rows.same(updates, rows.axis - shape[-1] + len(shape) - 1)
    if places is None or len(shape) != 2:
        return []
    at = np.flatnonzero(np.isin(places[:, rows.axis], rows.rows))
    return [RowWay(updates, 0, at, inner=rows.axis > 0)] if at.size else []


def partitioned(rows: RowSet) -> list[RowWay]:
    """DynamicPartition: this output has those of the rows to which the second input gave its number, in order."""
    numbers = rows.value(1)
    if numbers is None or numbers.ndim != 1:
        return []
    return rows.same(0) if rows.axis else [RowWay(0, 0, np.flatnonzero(numbers == rows.slot)[rows.rows])]


def cropped(rows: RowSet) -> list[RowWay]:
    """CropAndResize: the images that the indices of the boxes name, and the boxes."""
    images = rows.value(2)
    if rows.axis or images is None:
        return []
    return [RowWay(0, 0, np.unique(images[rows.rows])), *rows.same(1), *rows.same(2)]
