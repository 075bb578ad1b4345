"""The rows of the batch behind a NaN, followed back through what TensorFlow's ops really do with rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf
ROWS, BAD = 6, 4
X = np.ones((ROWS, 4, 3), np.float32)
X[BAD] = -1.0

ONES = tf.ones


def _lstm(x: Any) -> Any:
    """A loop over time, as Keras makes it: lists of tensors, time first."""

    def turn(i: Any, state: Any, outputs: Any) -> Any:
        state = tf.minimum(state, by_time[i])
        return i + 1, state, outputs.write(i, state)

    by_time = tf.transpose(x, [1, 0, 2])
    start = (0, by_time[0], tf.TensorArray(tf.float32, 4))
    gathered = tf.while_loop(lambda i, *_: i < 4, turn, start)[2].stack()
    return tf.transpose(gathered, [1, 0, 2])


def _array(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, ROWS)
    for at in range(ROWS):
        array = array.write(ROWS - 1 - at, x[at])
    return array.stack()


def _stitched(x: Any) -> Any:
    parts = [0, 1, 0, 1, 1, 0]
    places = tf.dynamic_partition(tf.range(ROWS)[::-1], parts, 2)
    return tf.dynamic_stitch(places, tf.dynamic_partition(x, parts, 2))


def _branches(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > -1e9, lambda: x * 2.0, lambda: x)


WAYS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda x: x,
    "elementwise": lambda x: tf.minimum(x * 2.0 + 0.5, 9.0) - tf.abs(x) * 0.1,
    "broadcast": lambda x: x * ONES([4, 3]) - 0.1 * ONES([1, 1, 3]),
    "transpose": lambda x: tf.transpose(x, [1, 2, 0]),
    "transpose twice": lambda x: tf.transpose(tf.transpose(x, [2, 0, 1]) * 2.0, [0, 2, 1]),
    "merge with time": lambda x: tf.reshape(x, [-1, 3]),
    "merge features": lambda x: tf.reshape(x, [ROWS, 12]),
    "merge all": lambda x: tf.reshape(x, [-1]),
    "merge and split": lambda x: tf.reshape(tf.reshape(x, [-1, 3]) * 2.0, [ROWS, 2, 2, 3]),
    "squeeze": lambda x: tf.squeeze(x[:, tf.newaxis, :, :1]),
    "expand": lambda x: tf.expand_dims(x, 0) * 1.5,
    "gather": lambda x: tf.gather(x, [5, 4, 3, 0]),
    "gather of time": lambda x: tf.gather(x, [2, 0], axis=1),
    "concat with itself": lambda x: tf.concat([x, x], axis=0),
    "concat of features": lambda x: tf.concat([x, x * 2.0], axis=-1),
    "split of the batch": lambda x: tf.split(x, 2)[1],
    "split unevenly": lambda x: tf.split(x, [1, 2, 3])[2],
    "split of features": lambda x: tf.split(x, 3, axis=2)[1],
    "stack": lambda x: tf.stack([x, x * 3.0], axis=1),
    "unstack": lambda x: tf.unstack(x, axis=1)[2],
    "tile": lambda x: tf.tile(x, [2, 1, 3]),
    "pad": lambda x: tf.pad(x, [[2, 1], [0, 0], [1, 1]], constant_values=1.0),
    "mirror": lambda x: tf.pad(x, [[0, 0], [1, 1], [0, 0]], mode="REFLECT"),
    "reverse": lambda x: tf.reverse(x, [0, 1]),
    "slice": lambda x: x[2:, 1:3],
    "every other": lambda x: x[::2],
    "backwards": lambda x: x[::-1, ..., 0],
    "one place": lambda x: x[:, 2, :2],
    "slice op": lambda x: tf.slice(x, [3, 0, 1], [3, 2, 2]),
    "matmul": lambda x: tf.matmul(tf.reshape(x, [ROWS, 12]), ONES([12, 5])),
    "matmul transposed": lambda x: tf.matmul(ONES([12, 5]), tf.reshape(x, [ROWS, 12]), True, True),
    "batch matmul": lambda x: tf.matmul(x, ONES([3, 7])),
    "einsum": lambda x: tf.einsum("btf,fh->hbt", x, ONES([3, 2])),
    "attention": lambda x: tf.matmul(tf.abs(x), x, transpose_b=True),
    "conv": lambda x: tf.nn.conv2d(x[..., tf.newaxis], ONES([2, 2, 1, 3]), 1, "SAME"),
    "pool": lambda x: tf.nn.avg_pool2d(x[..., tf.newaxis], 2, 1, "VALID"),
    "bias": lambda x: tf.nn.bias_add(x, [0.1, 0.2, 0.3]),
    "sum over time": lambda x: tf.reduce_sum(x, axis=1),
    "mean, axes kept": lambda x: tf.reduce_mean(x, axis=[1, 2], keepdims=True),
    "min from the end": lambda x: tf.reduce_min(x, axis=-1),
    "cumsum": lambda x: tf.cumsum(x, axis=1),
    "clip": lambda x: tf.clip_by_value(x, -0.5, 0.5),
    "where": lambda x: tf.where(x > 0, x, x * 2.0),
    "cast": lambda x: tf.cast(tf.cast(x, tf.float64) * 2.0, tf.float32),
    "frames": lambda x: tf.signal.frame(x, 4, 2, axis=0),
    "windows": lambda x: tf.stack([x[i : i + 4] for i in range(3)], axis=1),
    "rows of others by a table": lambda x: tf.gather(x, [[1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 1]]),
    "the least of others by a table": lambda x: tf.reduce_min(
        tf.gather(x, [[1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 1]]), 1
    ) * (tf.abs(x) + 1.0),
    "parts of the batch in turn": lambda x: tf.reshape(
        tf.transpose(tf.reshape(x, [2, 3, 4, 3]), [1, 0, 2, 3]), [ROWS, 4, 3]
    ),
    "taken apart and stacked": lambda x: tf.stack(tf.unstack(x)[::-1]),
    "written into an array": _array,
    "stitched": _stitched,
    "sequences turned round": lambda x: tf.reverse_sequence(x, [1, 2, 3, 4, 3, 2], seq_axis=1, batch_axis=0),
    "space to batch": lambda x: tf.space_to_batch(x[..., tf.newaxis], [2, 1], [[1, 1], [0, 0]]) + 0.5,
    "batch to space": lambda x: tf.batch_to_space(tf.reshape(x, [ROWS, 2, 2, 3]), [2, 1], [[1, 0], [0, 0]]),
    "product with a permutation": lambda x: tf.matmul(tf.one_hot([2, 4, 0, 1, 5, 3], ROWS), x[:, 0]),
    "einsum with a permutation": lambda x: tf.einsum("btf,cb->ctf", x, tf.one_hot([2, 4, 0, 1, 5, 3], ROWS)),
    "least of segments": lambda x: tf.math.unsorted_segment_min(tf.reshape(x, [ROWS, 12]), [0, 0, 1, 1, 2, 2], 3),
    "least of long segments": lambda x: tf.math.segment_min(tf.reshape(x, [-1]), tf.repeat(tf.range(ROWS), 12)),
    "rows of a ragged tensor": lambda x: tf.gather(tf.RaggedTensor.from_tensor(x[..., 0]), [3, 4, 1]).flat_values,
    "two ragged tensors": lambda x: tf.concat([tf.RaggedTensor.from_tensor(x[..., 0])] * 2, 1).flat_values,
    "what is alike": lambda x: tf.raw_ops.UniqueV2(x=x + tf.reshape(tf.range(6.0), [6, 1, 1]) / 10, axis=[0])[0],
    "crops": lambda x: tf.image.crop_and_resize(x[..., tf.newaxis], [[0, 0, 1, 1]] * 3, [3, 4, 0], [2, 2]),
    "loop": _lstm,
    "branch": _branches,
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_rows_are_followed_back_through(name: str, watched: Any) -> None:
    way = WAYS[name]

    @tf.function
    def step(x: Any) -> Any:
        return tf.sqrt(way(x))

    with watched(RunUntil("has_inf_or_nan")) as front:
        step(tf.constant(X))
    origin = OriginSearch(front.ends[0].run).first()
    assert origin is not None and origin.op_type == "Sqrt"
    assert origin.batch_rows == (BAD,), name
    assert (origin.batch.source, origin.batch.size) == ("x:0", ROWS)


def test_rows_of_a_sparse_tensor_are_followed_through_what_puts_its_elements_in_order(watched: Any) -> None:
    @tf.function
    def step(s: Any) -> Any:
        cut = tf.sparse.slice(tf.sparse.transpose(s), [0, 0], [4, ROWS])
        return tf.sqrt(tf.sparse.sparse_dense_matmul(tf.sparse.transpose(tf.sparse.reorder(cut)), ONES([4, 2])))

    with watched(RunUntil("has_inf_or_nan")) as front:
        step(tf.sparse.from_dense(X[..., 0]))
    origin = OriginSearch(front.ends[0].run).first()
    assert origin is not None and (origin.op_type, origin.batch_rows, origin.batch.size) == ("Sqrt", (BAD,), ROWS)


def test_of_rows_that_are_compared_with_others_the_one_to_blame_is_named(watched: Any) -> None:
    """A blind test: the row whose norm is 0 and its innocent partner were both blamed, for their two quotients."""
    rows = np.ones((ROWS, 4), np.float32)
    rows[BAD] = 0.0

    @tf.function
    def step(x: Any) -> Any:
        partner = tf.gather(x, [3, 5, 4, 0, 1, 2])
        return tf.reduce_sum(x * partner, 1) / (tf.norm(x, axis=1) * tf.norm(partner, axis=1))

    with watched(RunUntil("has_inf_or_nan")) as front:
        step(tf.constant(rows))
    origin = OriginSearch(front.ends[0].run).first()
    assert origin is not None and origin.op_type == "RealDiv"
    assert origin.batch_rows == (BAD,)


@pytest.mark.parametrize(
    "mix", [lambda x: tf.reduce_sum(x, axis=0) - 9.0, lambda x: tf.matmul(x[:, 0], x[:, 1], transpose_a=True) - 99.0]
)
def test_rows_that_were_mixed_are_not_told_apart(mix: Callable[[Any], Any], watched: Any) -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.sqrt(mix(x))

    with watched(RunUntil("has_inf_or_nan")) as front:
        step(tf.constant(X))
    origin = OriginSearch(front.ends[0].run).first()
    assert origin is not None and origin.batch_rows == ()
