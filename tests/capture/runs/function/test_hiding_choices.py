"""When `origin` says that a tf.where hides a NaN from the result: only where the gradient alone is bad."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tf


def _loss(tf: Any, kind: str, z: Any) -> Any:
    match kind:
        case "a library's losses":
            return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.ones_like(z), z))
        case "both branches":
            return tf.reduce_mean(tf.where(tf.abs(z) < 1.0, 0.5 * z * z, tf.abs(z) - 0.5))
        case _:
            return tf.reduce_mean(tf.where(z > 1.2, z, 0.0)) + tf.reduce_mean(z * 0.1)


@pytest.mark.parametrize("returned", [True, False], ids=["returned", "kept"])
@pytest.mark.parametrize("kind", ["a library's losses", "both branches", "another way"])
def test_a_where_hides_nothing_that_takes_another_way(tf2, origin, kind, returned) -> None:
    """A blind test: the loss was NaN, and a tf.where was said to hide it."""
    w = tf2.Variable(1.0)

    @tf2.function
    def step(x: Any) -> Any:
        with tf2.GradientTape() as tape:
            loss = _loss(tf2, kind, tf2.sqrt(x * w))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss if returned else 0.0

    found = origin(step, tf2.constant([[1.0], [2.0], [-3.0]]))
    assert found["cause"] == "Square root of a negative number: mul:0 is negative at 1 element."
    assert "double where" not in found["suggestion"]


@pytest.mark.parametrize("returned", [True, False], ids=["returned", "kept"])
def test_a_where_of_one_step_does_not_keep_bad_data_from_the_loss(tf2, origin, returned) -> None:
    """A blind test: the state of a row that has ended is copied, as static_rnn does, and the loss was NaN by it."""
    w = tf2.Variable([1.0, 2.0, 3.0])

    @tf2.function
    def step(x: Any, goes_on: Any) -> Any:
        with tf2.GradientTape() as tape:
            state = w * x[:, 0]
            output = tf2.where(goes_on, state * tf2.tanh(w * x[:, 1]), tf2.zeros_like(state))
            loss = tf2.reduce_mean((tf2.where(goes_on, output, state) - 1.0) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss if returned else 0.0

    x = np.ones((4, 2, 3), np.float32)
    x[1, 0, 0] = np.nan
    goes_on = tf2.constant([[True], [False], [True], [True]])
    assert origin(step, tf2.constant(x), goes_on)["cause"] == "Already in the input x:0."
    w.assign([1.0, 2.0, 3.0])
    x[1, 0, 0], x[1, 1, 0] = 1.0, np.nan
    cause = origin(step, tf2.constant(x), goes_on)["cause"]
    assert "a tf.where, keeps it from the result, but not from the gradient" in cause


def test_a_slope_that_reaches_the_loss_on_another_way_is_not_hidden(tf2, origin) -> None:
    """The root of 0 is 0, so that the loss is finite, and the way beside the tf.where has an infinite slope."""

    @tf2.function
    def step(x: Any) -> Any:
        with tf2.GradientTape() as tape:
            tape.watch(x)
            z = tf2.pow(x, 0.5)
            loss = tf2.reduce_sum(tf2.where(x > 0, z, 0.0)) + tf2.reduce_sum(z)
        return tape.gradient(loss, x)

    found = origin(step, tf2.constant([1.0, 0.0, 2.0]))
    assert found["cause"].startswith("Gradient of a power below 1 at 0") and "hides it" not in found["cause"]


def test_a_where_of_a_library_is_told_as_such(tf2, origin) -> None:
    """The program has no tf.where that it could give a harmless argument."""

    @tf2.function
    def step(x: Any) -> Any:
        with tf2.GradientTape() as tape:
            tape.watch(x)
            kept = tf2.nn.experimental.stateless_dropout(tf2.math.log(x), rate=0.5, seed=(1, 2), rng_alg="philox")
            loss = tf2.reduce_sum(kept)
        return tape.gradient(loss, x), loss

    dropped = [bool(gradient == 0) for gradient in step(tf2.ones([3]))[0]].index(True)
    found = origin(step, tf2.one_hot(dropped, 3, 0.0, 1.0))
    assert "stateless_dropout/SelectV2, a tf.where in stateless_dropout, hides it from the result" in found["cause"]
    assert "double where" not in found["suggestion"] and "tf.maximum(x, 1e-7)" in found["suggestion"]
