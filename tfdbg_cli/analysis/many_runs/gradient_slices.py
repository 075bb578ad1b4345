"""Gradients of rows that were looked up, as of an embedding: one slice for each look-up, to be added up by row."""

from __future__ import annotations

import numpy as np

from tfdbg_cli.model.dtypes import in_double
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.model.walks import reached

# Ops that add slices up, each with the place of these among its inputs; the second input tells the rows.
_SUMS = {"UnsortedSegmentSum": 0, "ResourceScatterAdd": 2, "ResourceScatterSub": 2, "ScatterAdd": 2, "ScatterSub": 2}
_EACH = "IdentityN"  # gives each of its inputs
_ON_THE_WAY = frozenset({"Identity", _EACH, "Mul", "Neg", "Cast"})  # between a gradient and the op that adds it up
_MOST_PASSED = 20


def rows_of_slices(graph: Graph, store: TensorStore, gradient: TensorName, slices: Array) -> Array | None:
    """Which row of the variable each of the `slices` of `gradient` belongs to; None of one that is no such slices.

    It is told by the op that adds the slices up, the optimizer's or the update's: segments of
    tf.math.unsorted_segment_sum, indices of a scattered update.
    """
    for name in reached([gradient] if slices.ndim else [], lambda one: _handed_on(graph, one), most=_MOST_PASSED):
        for adding, _ in graph.consumers(name.node):
            place = _SUMS.get(adding.op_type)
            if place is None or adding.inputs[place : place + 1] != (name,) or len(adding.inputs) < 2:
                continue
            indices = store.named(adding.inputs[1].node, adding.inputs[1].slot)
            rows = store.value(indices[-1]) if len(indices) else None
            if rows is not None and not isinstance(rows, NoValue) and rows.shape == slices.shape[:1]:
                return rows
    return None


def added_up(slices: Array, rows: Array) -> Array:
    """The slices of each row added up, in double precision, for the rows that occur in `rows`."""
    found, places = np.unique(rows, return_inverse=True)
    wide = in_double(slices)
    total = np.zeros((len(found), *slices.shape[1:]), wide.dtype)
    np.add.at(total, places, wide)
    return total


def _handed_on(graph: Graph, name: TensorName) -> list[TensorName]:
    """What gives each slice of `name`, scaled at most."""
    found: list[TensorName] = []
    for reader, slot in graph.consumers(name.node):
        if slot == name.slot and reader.op_type in _ON_THE_WAY:
            place = reader.inputs.index(name)
            found.append(TensorName(reader.name, place if reader.op_type == _EACH else 0))
    return found
