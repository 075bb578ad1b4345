"""Rows of sparse and ragged tensors, whose elements are stored one behind the other, row by row."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, RowWay
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import SEGMENT_EXTREMES


def rows_of_indices(indices: Array, stored: Array, rows: int) -> Array | None:
    """The rows of a sparse tensor in which the elements stored at `stored` are; None if it has none such."""
    if indices.ndim != 2 or indices.dtype.kind not in "iu" or (stored >= len(indices)).any():
        return None
    found = np.unique(indices[stored, 0])
    return found if ((found >= 0) & (found < rows)).all() else None


def are_splits(splits: Array, stored: int) -> bool:
    """Whether `splits` say where the rows of a ragged tensor begin, of which `stored` elements are stored."""
    if splits.ndim != 1 or splits.dtype.kind not in "iu" or len(splits) < 2:
        return False
    return bool(splits[0] == 0 and splits[-1] == stored and (np.diff(splits) >= 0).all())


def rows_of_splits(splits: Array, stored: Array) -> Array:
    """The rows of a ragged tensor in which the elements stored at `stored` are."""
    return np.unique(np.searchsorted(splits, stored, side="right") - 1)


def row_of_each(splits: Sequence[Array], stored: int) -> Array:
    """The row of a ragged tensor for each of its `stored` elements; the outermost splits come first."""
    rows: Array = np.arange(stored)
    for one in reversed(splits):
        rows = np.searchsorted(one, rows, side="right") - 1
    return rows


def to_dense(rows: RowSet) -> list[RowWay]:
    """SparseToDense and SparseTensorDense…: the stored elements of some rows of what was made dense."""
    return elements(rows, 0, 2) if rows.axis == 0 else []


def reduced(rows: RowSet) -> list[RowWay]:
    """SparseReduceSum and SparseReduceMax: the stored elements of some rows that stay apart."""
    axes, shape = rows.value(3), rows.value(2)
    if axes is None or shape is None or rows.axis or 0 in {int(axis) % shape.size for axis in axes.flat}:
        return []
    return elements(rows, 0, 1)


def multiplied(rows: RowSet) -> list[RowWay]:
    """SparseTensorDenseMatMul: the stored elements of some rows, or columns of what they are multiplied with."""
    if rows.node.attributes.get("adjoint_a", "").lower().endswith("true"):
        return []
    return rows.same(3) if rows.axis else elements(rows, 0, 1)


def elements(rows: RowSet, indices: int, values: int) -> list[RowWay]:
    """The stored elements of some rows of a sparse tensor, given as the inputs at `indices` and `values`."""
    places = rows.value(indices)
    if places is None or places.ndim != 2:
        return []
    return _stored(values, np.flatnonzero(np.isin(places[:, 0], rows.rows)))


def of_split_texts(rows: RowSet) -> list[RowWay]:
    """StringSplit: the texts of which some parts are, by the first of the indices of each."""
    places, texts = rows.output(0), rows.of(0)
    if rows.axis or rows.slot > 1 or places is None or not texts:
        return []
    found = rows_of_indices(places, rows.rows, texts[0])
    return [] if found is None else [RowWay(0, 0, found)]


def of_segments(rows: RowSet) -> list[RowWay]:
    """SegmentSum and its like: the rows that were put together; of a smallest or largest those that won somewhere."""
    segments = rows.value(1)
    if rows.axis != 0 or segments is None or segments.ndim != 1:
        return rows.same(0) if rows.axis else []
    inside = np.flatnonzero(np.isin(segments, rows.rows))
    if rows.node.op_type in SEGMENT_EXTREMES:
        inside = _winners(rows, segments, inside)
    return _stored(0, inside)


def _winners(rows: RowSet, segments: Array, inside: Array) -> Array:
    """Those of the rows `inside` the segments that hold what became of their segment, at one place of it at least.

    All of them where the values are not known.
    """
    data, made = rows.elements(0), rows.made()
    if data is None or made is None or data.shape[1:] != made.shape[1:]:
        return inside
    given, became = data[inside], made[segments[inside]]
    won = (given == became) | ((given != given) & (became != became))
    found: Array = inside[won.reshape(len(inside), -1).any(axis=1)]
    return found


def to_tensor(rows: RowSet) -> list[RowWay]:
    """RaggedTensorToTensor: the stored elements of some rows, where row splits say which those are."""
    kinds = re.findall(r"\w+", rows.node.attributes.get("row_partition_types", ""))
    splits = rows.value(3)
    if rows.axis != 0 or kinds != ["ROW_SPLITS"] or splits is None or splits.ndim != 1:
        return []
    inside = rows.rows[rows.rows < len(splits) - 1]
    return _stored(1, np.concatenate([np.arange(splits[i], splits[i + 1]) for i in inside] or [np.zeros(0, int)]))


def _stored(position: int, stored: Array) -> list[RowWay]:
    return [RowWay(position, 0, stored)] if stored.size else []
