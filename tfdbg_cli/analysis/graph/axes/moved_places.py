"""Ops that only move elements, in ways of their own: each is made again with places instead of elements.

What comes out says of each element where it was. It counts only if the elements at those places are, bit by bit, what
the op gave: then it is certain, whatever kernel it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.graph.axes.row_ways import RowSet, RowWay
from tfdbg_cli.analysis.graph.making.parts import MISFIT, Index
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import STITCHES

_MOST_ELEMENTS = 1 << 20
_NONE = -1  # of an element that did not come from there
# By the position of an input, of each element of the output the flat place in it.
_Places: TypeAlias = dict[int, Array]


def moved_rows(rows: RowSet) -> list[RowWay]:
    """The rows of the inputs that became `rows`, along each axis on which each of these comes of one row alone."""
    found: list[RowWay] = []
    for position, places in _moved(rows).items():
        taken = np.moveaxis(places, rows.axis, 0)[rows.rows].reshape(len(rows.rows), -1)
        kept = taken[(taken >= 0).any(axis=1)]
        source = rows.of(position) or ()
        for axis, length in enumerate(source if kept.size else ()):
            at = np.unravel_index(np.maximum(kept, 0), source)[axis]
            first = np.where(kept >= 0, at, length).min(axis=1)
            if length > 1 and (np.where(kept >= 0, at, 0).max(axis=1) == first).all():
                found.append(RowWay(position, axis, np.unique(first), inner=axis > 0))
    return found


def moved_place(rows: RowSet, element: Index) -> tuple[int, Index] | None:
    """The position of the input that `element` of the output was in, and its place there; None if nobody can tell."""
    for position, places in _moved(rows).items():
        flat = int(places[element])
        if flat != _NONE:
            return position, tuple(map(int, np.unravel_index(flat, rows.of(position) or ())))
    return None


def _moved(rows: RowSet) -> _Places:
    """Where the elements of the output were; empty where that is not known, or not borne out by the values."""
    if np.prod(rows.shape, dtype=np.int64) > _MOST_ELEMENTS:
        return {}
    try:
        places = _MADE_AGAIN[rows.node.op_type](rows)
        return places if _is_so(rows, places) else {}
    except MISFIT:
        return {}


def _is_so(rows: RowSet, places: _Places) -> bool:
    made = rows.made()
    if made is None:
        return False
    for position, one in places.items():
        source, there = rows.elements(position), one >= 0
        if source is None or one.shape != made.shape:
            return False
        if not same_bits(np.ascontiguousarray(source).reshape(-1)[one[there]], made[there]):
            return False
    return True


def _numbers(rows: RowSet, position: int) -> Array:
    """The whole numbers of an input.

    Raises:
        ValueError: they are not known.

    """
    found = rows.value(position)
    if found is None:
        raise ValueError(position)
    return found


def _own(rows: RowSet, position: int) -> Array:
    """The flat places of an input, in its shape."""
    shape = rows.of(position)
    if shape is None or np.prod(shape, dtype=np.int64) > _MOST_ELEMENTS:
        raise ValueError(position)
    return np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)


def _reversed_sequences(rows: RowSet) -> _Places:
    own, lengths = _own(rows, 0), _numbers(rows, 1)
    along, apart = rows.attribute("seq_dim"), rows.attribute("batch_dim")
    found = np.moveaxis(own.copy(), (apart, along), (0, 1))
    for row, length in zip(found, lengths.tolist(), strict=True):
        row[:length] = row[:length][::-1].copy()
    return {0: np.moveaxis(found, (0, 1), (apart, along))}


def _blocks(rows: RowSet) -> tuple[list[int], list[list[int]]]:
    """How large the blocks are along each axis behind the first, and what is added or cut off there."""
    if rows.node.op_type.endswith("ND"):
        return _numbers(rows, 1).tolist(), _numbers(rows, 2).tolist()
    return [rows.attribute("block_size")] * 2, _numbers(rows, 1).tolist()


def _space_to_batch(rows: RowSet) -> _Places:
    blocks, pads = _blocks(rows)
    own, count = _own(rows, 0), len(blocks)
    rest = own.shape[1 + count :]
    wide = np.pad(own, [(0, 0), *map(tuple, pads), *[(0, 0)] * len(rest)], constant_values=_NONE)
    sizes = [size // block for size, block in zip(wide.shape[1 : 1 + count], blocks, strict=True)]
    split = wide.reshape(len(own), *(n for pair in zip(sizes, blocks, strict=True) for n in pair), *rest)
    inside, across = [2 * i + 2 for i in range(count)], [2 * i + 1 for i in range(count)]
    moved = split.transpose(*inside, 0, *across, *range(2 * count + 1, split.ndim))
    return {0: moved.reshape(-1, *sizes, *rest)}


def _batch_to_space(rows: RowSet) -> _Places:
    blocks, crops = _blocks(rows)
    own, count = _own(rows, 0), len(blocks)
    sizes, rest = own.shape[1 : 1 + count], own.shape[1 + count :]
    split = own.reshape(*blocks, -1, *sizes, *rest)
    order = [axis for i in range(count) for axis in (count + 1 + i, i)]
    moved = split.transpose(count, *order, *range(2 * count + 1, split.ndim))
    wide = moved.reshape(-1, *(size * block for size, block in zip(sizes, blocks, strict=True)), *rest)
    kept = (slice(low, wide.shape[1 + i] - high) for i, (low, high) in enumerate(crops))
    return {0: wide[(slice(None), *kept)]}


def _stitched(rows: RowSet) -> _Places:
    """Rows of several inputs, put where the indices of each say; of one place the last counts."""
    count = len(rows.inputs) // 2
    found = {count + at: np.full(rows.shape, _NONE) for at in range(count)}
    for at in range(count):
        indices = _numbers(rows, at)
        own = _own(rows, count + at).reshape(indices.size, *rows.shape[1:])
        for row, place in zip(own, indices.reshape(-1).tolist(), strict=True):
            for places in found.values():
                places[place] = _NONE
            found[count + at][place] = row
    return found


def _ragged_gathered(rows: RowSet) -> _Places:
    """The stored elements of the rows that are named, level by level: the last output."""
    levels = len(rows.inputs) - 2
    indices = _numbers(rows, len(rows.inputs) - 1)
    if rows.slot != levels + indices.ndim - 1:
        return {}
    chosen = indices.reshape(-1)
    for level in range(levels):
        splits = _numbers(rows, level)
        chosen = np.concatenate([np.zeros(0, np.int64), *(np.arange(splits[i], splits[i + 1]) for i in chosen)])
    return {levels: _own(rows, levels)[chosen.astype(np.int64)]}


def _sparse_reordered(rows: RowSet) -> _Places:
    return {1: np.lexsort(_numbers(rows, 0).T[::-1])} if rows.slot == 1 else {}


def _sparse_cut(rows: RowSet) -> _Places:
    indices, start, size = _numbers(rows, 0), _numbers(rows, 3), _numbers(rows, 4)
    inside = ((indices >= start) & (indices < start + size)).all(axis=1)
    return {1: np.flatnonzero(inside)} if rows.slot == 1 else {}


def unique_rows(rows: RowSet) -> Iterator[RowWay]:
    """Unique and UniqueV2: all rows that hold what became one of these, along the axis that is asked about."""
    along = rows.value(1) if rows.node.op_type.endswith("V2") and len(rows.inputs) > 1 else None
    axis = int(along.reshape(-1)[0]) if along is not None and along.size else 0
    source, made = rows.elements(0), rows.made()
    if rows.slot or rows.axis != axis or source is None or made is None or source.size > _MOST_ELEMENTS:
        return
    behind, told = (np.moveaxis(one, axis, 0).reshape(one.shape[axis], -1) for one in (source, made))
    same = np.zeros(len(behind), np.bool_)
    for row in told[rows.rows]:
        same |= (behind == row).all(axis=1)
    if same.any():
        yield RowWay(0, axis, np.flatnonzero(same))


_MADE_AGAIN: Mapping[str, Callable[[RowSet], _Places]] = {
    "ReverseSequence": _reversed_sequences,
    **dict.fromkeys(("SpaceToBatch", "SpaceToBatchND"), _space_to_batch),
    **dict.fromkeys(("BatchToSpace", "BatchToSpaceND"), _batch_to_space),
    **dict.fromkeys(STITCHES, _stitched),
    "RaggedGather": _ragged_gathered,
    "SparseReorder": _sparse_reordered,
    "SparseSlice": _sparse_cut,
}
MADE_AGAIN = frozenset(_MADE_AGAIN)
"""The op types that are made again here."""
