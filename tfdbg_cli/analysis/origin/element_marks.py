"""Marks on elements, carried through an op: which elements of a result were made of the marked ones of its inputs.

Marks are arrays of truths, in the shape of the tensor. They say "may have been made of": where an op is not known,
all of its result is marked. What NumPy raises where values do not fit their op (`MISFIT`) is left to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE, REDUCTIONS, reduced_axes
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array
from tfdbg_cli.model.whole_numbers import whole_number
from tfdbg_cli.ops.kinds import (
    CONCATENATIONS,
    COPIES,
    COUNTS,
    GATHERS,
    IDENTITIES,
    JOINS,
    PLACES,
    PRODUCTS,
    RESHAPES,
    SEGMENTS,
    SELECTS,
    SORTS,
    TRUTHS,
)

_BY_ELEMENT = ELEMENTWISE | TRUTHS | IDENTITIES | COPIES | {"Cast"}
_Values = Sequence[Array | None]
_Marks = Mapping[int, Array]


def marked_of(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array:
    """The elements of a result of `node`, of the `shape`, that were made of the marked ones of its inputs.

    `values` are those of its inputs, None for one that was not seen; `marks` has the marks by position. All elements
    of the result are marked where nobody can tell.
    """
    marks = {at: mark for at, mark in marks.items() if mark.any()}
    if not marks:
        return np.zeros(shape, bool)
    rule = _RULES.get(node.op_type)
    found = None if rule is None else rule(node, values, marks, shape)
    return np.ones(shape, bool) if found is None or found.shape != tuple(shape) else np.asarray(found, bool)


def _spread(marked: Array, shape: Shape) -> Array | None:
    """`marked` in the shape of a result by element; None if it does not fit."""
    try:
        return np.broadcast_to(marked, shape)
    except ValueError:
        return None


def _by_element(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
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


def _chosen(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    """Of tf.where: what is chosen counts, and all where it is not known which is."""
    asked = values[0]
    if asked is None or len(values) != 3 or (asked.ndim != len(shape) and asked.ndim):
        return None  # Select takes whole rows by a vector, which SelectV2 lays along the last axis
    none = np.zeros(shape, bool)
    chosen, unsure, one, other = (_spread(mark, shape) for mark in (asked, *(marks.get(at, none) for at in range(3))))
    if chosen is None or unsure is None or one is None or other is None:
        return None
    return np.asarray(unsure | np.where(chosen, one, other))


def _reshaped(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    fits = list(marks) == [0] and marks[0].size == int(np.prod(shape, dtype=np.int64))
    return marks[0].reshape(shape) if fits else None


def _taken(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    """Of a lookup: the elements that the indices name."""
    indices, along = values[1], values[2] if len(values) > 2 else np.zeros((), np.int64)
    if list(marks) != [0] or indices is None or along is None or int(node.attributes.get("batch_dims") or 0):
        return None
    try:
        return np.take(marks[0], np.asarray(indices, np.int64), axis=int(along))
    except (IndexError, ValueError):
        return None


def _strided(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    """Of x[begin:end:stride, …]: NumPy's slice by the same numbers."""
    if list(marks) != [0] or any(value is None for value in values[1:]):
        return None
    begin, end, step = ([int(number) for number in np.ravel(value)] for value in values[1:4] if value is not None)

    def asks(name: str, at: int) -> bool:
        return bool((whole_number(node.attributes.get(f"{name}_mask", "0").strip()) or 0) >> at & 1)

    index: list[Any] = []
    for at in range(len(begin)):
        if asks("ellipsis", at):
            index.append(Ellipsis)
        elif asks("new_axis", at):
            index.append(np.newaxis)
        elif asks("shrink_axis", at):
            index.append(begin[at])
        else:
            first = None if asks("begin", at) else begin[at]
            index.append(slice(first, None if asks("end", at) else end[at], step[at]))
    return np.asarray(marks[0][tuple(index)])


def _sliced(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    begin = values[1]
    if list(marks) != [0] or begin is None:
        return None
    return marks[0][tuple(slice(int(first), int(first) + size) for first, size in zip(begin, shape, strict=True))]


def _transposed(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    order = values[1]
    return None if list(marks) != [0] or order is None else marks[0].transpose([int(axis) for axis in order])


def _beside_one_another(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    """Of a stack or a concatenation: each input in its place; the axis of the latter is the last input."""
    axis = values[-1] if node.op_type in CONCATENATIONS else np.array(int(node.attributes.get("axis") or 0))
    parts = values[:-1] if node.op_type in CONCATENATIONS else values
    shapes = [part.shape for part in parts if part is not None]
    if axis is None or len(shapes) < len(parts) or any(at >= len(parts) for at in marks):
        return None
    marked = [marks.get(at, np.zeros(size, np.bool_)) for at, size in enumerate(shapes)]
    join = np.concatenate if node.op_type in CONCATENATIONS else np.stack
    return np.asarray(join(marked, axis=int(axis)))


def _reduced(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    if list(marks) != [0]:
        return None
    axes = reduced_axes(node.op_type, marks[0].shape, values[1] if len(values) > 1 else None, shape)
    keeps = len(shape) == marks[0].ndim
    return None if axes is None else np.asarray(marks[0].any(axis=axes, keepdims=keeps))


def _along_the_last_axis(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    """Of a sort: a row with a marked element is put in order by it."""
    if list(marks) != [0]:
        return None
    return np.broadcast_to(marks[0].any(axis=-1, keepdims=True), shape)


def _of_segments(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    """Of a sum by segments: those to which a marked element belongs; a negative number leaves it out."""
    segments = values[1]
    if list(marks) != [0] or segments is None or not shape:
        return None
    found = np.zeros(shape, bool)
    marked = marks[0].reshape(-1, *shape[1:])
    kept = np.ravel(segments) >= 0
    np.logical_or.at(found, np.ravel(segments)[kept], marked[kept])
    return found


def _scattered(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    """Of tf.scatter_nd: 0 adds nothing, wherever it goes; of any other number the place has to be known."""
    places, updates = values[0], values[1]
    if places is None or updates is None or 2 in marks:
        return None
    astray = marks.get(0, np.zeros(places.shape, bool)).any(axis=-1)
    if astray.shape != updates.shape[: astray.ndim]:
        return None
    adds = (updates != 0).any(axis=tuple(range(astray.ndim, updates.ndim)))
    if (astray & adds).any():
        return None
    found = np.zeros(shape, bool)
    if 1 in marks and places.shape[-1]:
        known = ~astray
        np.logical_or.at(found, tuple(np.moveaxis(places[known], -1, 0)), marks[1][known])
    return found


def _counted(node: Node, values: _Values, marks: _Marks, shape: Shape) -> Array | None:
    """Of tf.math.bincount: what has the weight 0 is not counted."""
    weights = values[-1]
    if list(marks) != [0] or weights is None or weights.shape != marks[0].shape or (marks[0] & (weights != 0)).any():
        return None
    return np.zeros(shape, bool)


_Rule = Callable[[Node, _Values, _Marks, Shape], Array | None]
_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(_BY_ELEMENT, _by_element),
    **dict.fromkeys(SELECTS, _chosen),
    **dict.fromkeys(RESHAPES, _reshaped),
    **dict.fromkeys(GATHERS, _taken),
    **dict.fromkeys(JOINS, _beside_one_another),
    **dict.fromkeys(REDUCTIONS | PLACES, _reduced),
    **dict.fromkeys(SORTS, _along_the_last_axis),
    **dict.fromkeys(SEGMENTS, _of_segments),
    **dict.fromkeys(COUNTS, _counted),
    "Slice": _sliced,
    "StridedSlice": _strided,
    "Transpose": _transposed,
    "ScatterNd": _scattered,
}
