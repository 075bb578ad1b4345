"""Small programs of TensorFlow, recorded twice and more with one thing changed, for tests of what `diff` finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.api import process_debugger

X = np.random.RandomState(1).randn(8, 16).astype(np.float32)
W1 = np.random.RandomState(2).randn(16, 32).astype(np.float32) / 4
W2 = np.random.RandomState(3).randn(32, 4).astype(np.float32) / 6


def record(path: Path, program: Callable[..., Any], *given: Any) -> Path:
    """Record one call of a function, in the folder `path`."""
    tf_debug.record(str(path))
    try:
        program(*given)
    finally:
        tf_debug.disable()
        process_debugger.process_debugger.cache_clear()
    return path


def network(
    *,
    order: str = "scale shift",
    seed: int | None = None,
    dtype: Any = tf.float32,
    head: Any = W2,
    epsilon: float = 1e-3,
) -> Callable[[Any], Any]:
    """A layer, normalized, scaled and shifted, and a head."""
    first, second = tf.Variable(tf.cast(W1, dtype)), tf.Variable(tf.cast(head, dtype))

    def call(x: Any) -> Any:
        x = tf.cast(x, dtype)
        h = tf.matmul(x, first)
        if seed is not None:
            h += tf.random.stateless_normal(tf.shape(h), [seed, 0], dtype=dtype)
        mean = tf.reduce_mean(h, 1, keepdims=True)
        variance = tf.reduce_mean(tf.square(h - mean), 1, keepdims=True)
        h = (h - mean) * tf.math.rsqrt(variance + tf.cast(epsilon, dtype))  # the epsilon
        h = h * 2.0 + 1.0 if order == "scale shift" else (h + 1.0) * 2.0  # the order
        probabilities = tf.nn.softmax(tf.matmul(tf.nn.relu(h), second))  # the head
        return tf.reduce_sum(probabilities**2)

    return call


def record_function(path: Path, **changes: Any) -> Path:
    """Record a tf.function of the network."""
    return record(path, tf.function(network(**changes)), tf.constant(X))


def record_eager(path: Path, **changes: Any) -> Path:
    """Record the network as it runs eagerly."""
    program = network(**changes)

    def eagerly(x: Any) -> None:
        with tf_debug.debugging(eager=True):
            program(x)

    return record(path, eagerly, tf.constant(X))


def record_session(path: Path, **changes: Any) -> Path:
    """Dump the network as a session runs it."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as plain:
        fed = tf.compat.v1.placeholder(tf.float32, [8, 16], name="given")
        fetched = network(**changes)(fed)
        plain.run(tf.compat.v1.global_variables_initializer())
        tf_debug.DumpingDebugWrapperSession(plain, str(path)).run(fetched, {fed: X})
    return path


def ported(keras: Any, *, second: str = "tanh") -> Any:
    """A model of Keras of whichever version, its layers called as that version calls them."""
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((16,)), layers.Dense(32, activation="sigmoid"), layers.LayerNormalization(),
            layers.Dense(32, activation=second), layers.Dense(32, activation="relu"), layers.BatchNormalization(),
            layers.Dense(4, activation="softmax"),
        ]
    )  # fmt: skip
    model.set_weights(
        [
            abs(np.random.RandomState(at).randn(*one.shape)).astype(np.float32) / 4
            for at, one in enumerate(model.weights)
        ]
    )
    return model


def record_prediction(path: Path, model: Any) -> Path:
    """Record what a model predicts."""
    return record(path, tf.function(lambda x: model(x, training=False)), tf.constant(X))


def record_step(path: Path, model: Any) -> Path:
    """Record the loss of a model, and its gradients."""
    labels = tf.constant(np.arange(8) % 4)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            picked = tf.gather(model(x, training=True), labels, batch_dims=1)
            loss = -tf.reduce_mean(tf.math.log(picked + 1e-3))
        return [loss, *tape.gradient(loss, model.trainable_variables)]

    return record(path, step, tf.constant(X))


def line_of(words: str) -> int:
    """The number of the line of this file with these words in a comment."""
    rows = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, row in enumerate(rows, 1) if row.endswith(f"# {words}"))
