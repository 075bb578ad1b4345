"""A check reads no value that the optimizer merges with its one reader: a watched call rounds as an unwatched one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.watched_graphs import Both

pytestmark = pytest.mark.tf

_SHAPE = [40, 40]


def _divided_by_a_root(x: Any, y: Any) -> Any:
    return tf.abs(x) / tf.sqrt(tf.abs(y) + 1.0)


def _divided_by_a_root_in_another_shape(x: Any, y: Any) -> Any:
    return x[None] / tf.reshape(tf.sqrt(tf.abs(y) + 1.0), [1, *_SHAPE])


def _activated(activation: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: activation(tf.nn.bias_add(tf.matmul(x, y), y[0]))


def _summed_in_branches(x: Any, y: Any) -> Any:
    weight = tf.constant(np.random.RandomState(3).normal(size=_SHAPE).astype(np.float32))
    turned = tf.while_loop(lambda i, _: i < 3, lambda i, z: (i + 1, tf.tanh(z @ weight + y[0])), (0, x))[1]
    return tf.cond(tf.reduce_sum(x) > 1e9, lambda: turned, lambda: tf.nn.sigmoid(tf.nn.bias_add(turned @ y, x[0])))


def _log_of_softmax(x: Any, y: Any) -> Any:
    return tf.math.log(tf.nn.softmax(x)) + tf.exp(y) - 1.0


def _small_factors_last(x: Any, y: Any) -> Any:
    return tf.tanh((x * 3.1) * 0.7 + (y * 1.3 + 0.1) / 1.7), tf.sigmoid(x * y + x * tf.abs(y))


_STEPS = {
    "root": _divided_by_a_root,
    "root, reshaped": _divided_by_a_root_in_another_shape,
    "tanh": _activated(tf.tanh),
    "sigmoid": _activated(tf.sigmoid),
    "elu": _activated(tf.nn.elu),
    "relu": _activated(tf.nn.relu),
    "loop and branch": _summed_in_branches,
    "log of softmax": _log_of_softmax,
    "factors": _small_factors_last,
}


@pytest.mark.parametrize("step", _STEPS.values(), ids=_STEPS)
def test_a_watched_call_gives_the_bits_of_an_unwatched_one(step: Callable[[Any, Any], Any]) -> None:
    concrete = tf.function(step, autograph=False).get_concrete_function(*[tf.TensorSpec(_SHAPE, tf.float32)] * 2)
    both = Both(concrete)
    random = np.random.RandomState(1)
    for _ in range(3):
        given = [tf.constant(random.normal(size=_SHAPE).astype(np.float32)) for _ in range(2)]
        plain = [output.numpy().tobytes() for output in tf.nest.flatten(concrete(*given))]
        assert [output.numpy().tobytes() for output in both.checked.perform(given).outputs] == plain
        assert [output.numpy().tobytes() for output in both.kept.perform(given).outputs] == plain


@pytest.mark.parametrize("step", _STEPS.values(), ids=_STEPS)
def test_what_is_merged_is_looked_at_all_the_same(step: Callable[[Any, Any], Any]) -> None:
    both = Both(tf.function(step, autograph=False).get_concrete_function(*[tf.TensorSpec(_SHAPE, tf.float32)] * 2))
    healthy = tf.ones(_SHAPE)
    for bad in (0.0, 3e38, -3e38, np.inf, -np.inf, np.nan):
        spoiled = tf.tensor_scatter_nd_update(healthy, [[1, 2]], [bad])
        both.agree([spoiled, healthy])
        both.agree([healthy, spoiled])
        both.agree([tf.fill(_SHAPE, bad), tf.fill(_SHAPE, bad)])
