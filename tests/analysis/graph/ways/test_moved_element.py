"""Where an op took an element from that it only moved: held against what TensorFlow makes of numbered elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.what_if_runs import captured

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.ways.moved_element import moved_from

pytestmark = pytest.mark.tf
NUMBERED = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
MOVES: dict[str, Callable[[Any], Any]] = {
    "Reshape": lambda x: tf.reshape(x, [4, 6]),
    "to a scalar": lambda x: tf.reshape(x[0, :1, 2], []),
    "ExpandDims": lambda x: tf.expand_dims(x, 1),
    "Squeeze": lambda x: tf.squeeze(x[:1]),
    "Transpose": lambda x: tf.transpose(x, [2, 0, 1]),
    "ReverseV2": lambda x: tf.reverse(x, [0, 2]),
    "Roll": lambda x: tf.roll(x, [1, -2], [0, 2]),
    "Slice": lambda x: tf.slice(x, [1, 0, 2], [1, 2, 2]),
    "StridedSlice": lambda x: x[:, ::-2, 1:3],
    "an index": lambda x: x[:, 1, tf.newaxis],
    "Split": lambda x: tf.split(x, 3, axis=1)[2],
    "SplitV": lambda x: tf.split(x, [1, 3], axis=-1)[1],
    "Unpack": lambda x: tf.unstack(x, axis=1)[1],
    "Tile": lambda x: tf.tile(x, [2, 1, 3]),
    "BroadcastTo": lambda x: tf.broadcast_to(x, [5, 2, 3, 4]),
    "PadV2": lambda x: tf.pad(x, [[1, 0], [0, 2], [1, 1]], constant_values=-1.0),
    "GatherV2": lambda x: tf.gather(x, [2, 0, 2], axis=1),
    "of a row its own": lambda x: tf.gather(x, [[2, 0], [1, 1]], axis=1, batch_dims=1),
    "one element": lambda x: x[1, 2, -3],
    "a table": lambda x: tf.gather(x, [[1, 0], [0, 0]]),
    "Identity": lambda x: tf.stop_gradient(x),
    "DynamicStitch": lambda x: tf.dynamic_stitch([[1, 0], [3, 2]], [x, x + 24.0]),
    "ReverseSequence": lambda x: tf.reverse_sequence(x, [2, 1, 4], seq_axis=2, batch_axis=1),
    "SpaceToBatchND": lambda x: tf.space_to_batch(x[..., tf.newaxis], [3, 2], [[0, 0], [0, 0]]),
    "BatchToSpaceND": lambda x: tf.batch_to_space(tf.reshape(x, [6, 2, 1, 2]), [3, 2], [[1, 2], [0, 1]]),
    "RaggedGather": lambda x: tf.gather(tf.RaggedTensor.from_tensor(x[0], [2, 4, 0]), [1, 2, 0]).flat_values,
    "SparseReorder": lambda x: tf.sparse.transpose(tf.sparse.from_dense(x[1])).values,
    "SparseSlice": lambda x: tf.sparse.slice(tf.sparse.from_dense(x[1]), [0, 1], [3, 2]).values,
}


@pytest.mark.parametrize("name", MOVES)
def test_each_element_is_found_where_it_was(name: str) -> None:
    run, _, _ = captured(tf.function(lambda x: tf.abs(MOVES[name](x), name="last")), tf.constant(NUMBERED))
    lineage = Lineage(run)
    (last,) = run.tensors.named("last", 0)
    row = lineage.places(last)[0].index
    assert row is not None
    node, tensor = lineage.node(row), run.tensors[row]
    assert node is not None and tensor.shape is not None
    inputs = lineage.inputs(row)
    value: Any = run.tensors.value(row)
    told = 0
    for element in np.ndindex(*tensor.shape):
        found = moved_from(run, lineage, row, node, element)
        if value[element] == -1.0:  # what was put around
            continue
        assert found is not None
        position, where = found
        given = inputs[position].value
        assert given is not None and len(where) == given.ndim
        there = np.asarray(given[tuple(slice(None) if place is None else place for place in where)])
        assert value[element] in there
        told += there.size == 1
    assert told == (value != -1.0).sum()
