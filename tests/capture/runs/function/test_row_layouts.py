"""Rows of a batch, told through whatever puts them elsewhere; each way is tried with TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.prompt import Prompt

from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf
_ROWS, _STEPS, _WIDTH = 8, 6, 4
_LENGTHS = [6, 5, 4, 6, 3, 6, 2, 1]
_BACKWARDS = [[place] for place in range(_ROWS)[::-1]]


def _shares(z: Any) -> Any:
    """0 / 0 where all of the last axis is 0."""
    return z / tf.reduce_sum(tf.abs(z), -1, keepdims=True)


_LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "groups": lambda z: tf.transpose(tf.reshape(z, [2, 4, _STEPS, _WIDTH]), [1, 0, 2, 3]),
    "pairs of rows": lambda z: tf.transpose(tf.reshape(z, [4, 2, _STEPS, _WIDTH]), [1, 0, 2, 3]),
    "time first and flat": lambda z: tf.reshape(tf.transpose(z, [1, 0, 2]), [-1, _WIDTH]),
    "flat": lambda z: tf.reshape(z, [-1, _WIDTH]),
    "packed": lambda z: tf.gather_nd(z, tf.where(tf.sequence_mask(_LENGTHS, _STEPS))),
    "gathered rows": lambda z: tf.gather_nd(z, [[5], [0], [5], [3]]),
    "scattered": lambda z: tf.scatter_nd(_BACKWARDS, z, [_ROWS, _STEPS, _WIDTH]),
    "updated": lambda z: tf.tensor_scatter_nd_update(tf.ones_like(z), _BACKWARDS, z),
    "parted": lambda z: tf.dynamic_partition(z, [0, 1, 0, 1, 1, 0, 0, 1], 2)[0],
}


def _rows_named(watched: Any, function: Callable[[Any], Any], x: Any) -> list[int]:
    step = tf.function(lambda x: tf.reduce_sum(function(x)))
    with watched(RunUntil("has_inf_or_nan")) as front:
        step(tf.constant(x))
    found: list[int] = Prompt(front.ends[0]).data("origin")["batch_rows"]
    return found


@pytest.mark.parametrize("layout", _LAYOUTS.values(), ids=_LAYOUTS)
def test_the_row_that_was_moved(watched: Any, layout: Callable[[Any], Any]) -> None:
    x = np.random.default_rng(0).normal(size=(_ROWS, _STEPS, _WIDTH)).astype(np.float32)
    x[5, 2] = 0
    weight = tf.Variable(tf.random.normal([_WIDTH, _WIDTH]))
    assert _rows_named(watched, lambda x: _shares(layout(x @ weight)), x) == [5]


def _cosines(e: Any) -> Any:
    norms = tf.norm(e, axis=1)
    return tf.matmul(e, e, transpose_b=True) / (norms[:, None] * norms[None])


def test_a_row_that_is_bad_beside_all_others_is_to_blame(watched: Any) -> None:
    x = np.random.default_rng(0).normal(size=(_ROWS, _WIDTH)).astype(np.float32)
    x[[3, 5]] = 0
    assert _rows_named(watched, _cosines, x) == [3, 5]
    assert _rows_named(watched, lambda x: _shares(x[:, None] * x[None]), x) == [3, 5]


def test_of_rows_that_are_bad_together_both_are(watched: Any) -> None:
    x = np.random.default_rng(0).normal(size=(_ROWS, _WIDTH)).astype(np.float32)
    x[6] = x[2]

    def slopes(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            squares = tf.reduce_sum(tf.square(x[:, None] - x[None]), -1)
            apart = tf.sqrt(tf.linalg.band_part(squares, 0, -1) + tf.linalg.band_part(tf.ones_like(squares), -1, 0))
            loss = tf.reduce_mean(apart)
        return tape.gradient(loss, x)

    assert _rows_named(watched, slopes, x) == [2, 6]


def _squares(x: Any) -> Any:
    return tf.square(x[:, None] - x[None])


def _upper(x: Any) -> Any:
    products = tf.matmul(x, x, transpose_b=True)
    kept = tf.linalg.band_part(products, 0, -1) - tf.linalg.band_part(products, 0, 0)
    return tf.math.log(kept + tf.linalg.band_part(tf.ones_like(products), -1, 0))


def _triplets(x: Any) -> Any:
    apart = tf.reduce_sum(_squares(x), -1)
    return tf.math.log(200 - tf.maximum(apart[:, :, None], apart[:, None, :]))


@pytest.mark.parametrize(
    ("function", "row", "number"),
    [(_squares, 5, 3e19), (_upper, 4, -1.0), (_upper, 0, -1.0), (_upper, 7, -1.0), (_triplets, 5, 21.0)],
    ids=["no comparison with itself", "half of all", "the first", "the last", "triplets"],
)
def test_one_row_is_to_blame_for_what_all_bad_comparisons_have(
    watched: Any, function: Callable[[Any], Any], row: int, number: float
) -> None:
    x = np.random.default_rng(0).uniform(0.5, 1.5, (_ROWS, _WIDTH)).astype(np.float32)
    x[row] = number
    assert _rows_named(watched, function, x) == [row]


def test_a_row_that_was_overwritten_is_not_to_blame(watched: Any) -> None:
    x = np.ones((_ROWS, _WIDTH), np.float32)
    ones = tf.ones([1, _WIDTH])
    assert _rows_named(watched, lambda x: tf.math.log(tf.tensor_scatter_nd_update(x, [[2]], -ones)), x) == []
    x[6] = -1
    assert _rows_named(watched, lambda x: tf.math.log(tf.tensor_scatter_nd_update(x, [[2]], ones)), x) == [6]


def test_a_row_of_a_sparse_batch_that_adds_up_to_nothing(watched: Any) -> None:
    x = np.eye(_ROWS, dtype=np.float32)
    x[6, :2] = [-2, 1]
    given = tf.sparse.from_dense(x)
    step = tf.function(lambda sparse: 1 / tf.sparse.reduce_sum(sparse, axis=1))
    with watched(RunUntil("has_inf_or_nan")) as front:
        step(given)
    assert Prompt(front.ends[0]).data("origin")["batch_rows"] == [6]
