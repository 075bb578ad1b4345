"""Causes that depend on what made an operand, told through ops that cut tensors and join them."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf

X = [[1.0, -1.0, 2.0, 3.0]]
BY_RELU = {
    "cut": lambda x: tf.nn.relu(x)[:, 1:3],
    "split": lambda x: tf.split(tf.nn.relu(x), 2, axis=1)[0],
    "second of two": lambda x: tf.concat([tf.sigmoid(x), tf.nn.relu(x)], axis=0),
    "joined and cut": lambda x: tf.concat([tf.sigmoid(x), tf.nn.relu(x)], axis=1)[:, 4:],
    "stacked": lambda x: tf.stack([tf.exp(x), tf.nn.relu(x)]),
    "both": lambda x: tf.concat([tf.nn.relu(x), tf.nn.relu(-x)], axis=0),
}
BY_ANOTHER = {
    "zero of another": lambda x: tf.concat([tf.nn.relu(x + 2.0), tf.tanh(x * 0.0)], axis=0),
    "zeros of both": lambda x: tf.concat([tf.nn.relu(x), tf.tanh(x * 0.0)], axis=0),
}


def cause_of_log(watched: Any, made: Any) -> tuple[str, str]:
    """The cause and what helps, of the logarithm of what `made` makes."""
    logarithm = tf.function(lambda x: tf.math.log(made(x)))
    with watched(RunUntil("has_inf_or_nan")) as front:
        logarithm(tf.constant(X))
    (end,) = front.ends
    origin = OriginSearch(end.run).first()
    assert origin is not None and origin.name.node == "Log"
    return origin.cause.text, origin.cause.suggestion


@pytest.mark.parametrize("made", BY_RELU.values(), ids=BY_RELU)
def test_a_zero_of_a_relu_is_one_wherever_it_is_moved(watched, made) -> None:
    cause, suggestion = cause_of_log(watched, made)
    assert "a relu, is 0" in cause
    assert "tf.nn.softplus" in suggestion


@pytest.mark.parametrize("made", BY_ANOTHER.values(), ids=BY_ANOTHER)
def test_a_zero_beside_a_relu_is_not_its(watched, made) -> None:
    cause, _ = cause_of_log(watched, made)
    assert cause.startswith("Log of 0")
    assert "relu" not in cause
