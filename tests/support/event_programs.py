"""Small programs whose event sets tests read: Keras, a custom loop with functions in functions, eager code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

MODES = ("NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR")


def custom_loop() -> None:
    """A function that calls a function, with a loop, a branch and gradients; its logarithm meets 0."""
    import tensorflow as tf

    weight = tf.Variable(tf.ones([3, 2]))

    @tf.function
    def logarithm(x: tf.Tensor) -> tf.Tensor:
        return tf.math.log(x)

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        count, total = tf.constant(0), x
        while count < 3:
            total = total * 2.0 - 1.0
            count += 1
        total = total + 1.0 if tf.reduce_sum(total) > 0.0 else total
        with tf.GradientTape() as tape:
            share = tf.nn.softmax(tf.matmul(total, weight) * [1.0, 60.0])
            loss = -tf.reduce_sum(logarithm(share))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    for turn in range(2):
        loss = step(tf.cast(tf.reshape(tf.range(6), [2, 3]), tf.float32) + float(turn))
        tf.cast(loss, tf.float64) * 2.0


def keras_fit() -> None:
    """Two steps of `fit` whose loss is a logarithm of 0."""
    import tensorflow as tf

    layers = [tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(3, activation="softmax")]
    model = tf.keras.Sequential(layers)
    model.compile("sgd", loss=lambda y, p: -tf.reduce_mean(y * tf.math.log(p)))
    chance = np.random.RandomState(0)
    images = chance.randn(8, 5).astype("float32") * 1e3
    model.fit(images, np.eye(3, dtype="float32")[chance.randint(0, 3, 8)], batch_size=4, verbose=0)


def eager() -> None:
    """Ops of many types and dtypes, some with several outputs, some with none."""
    import tensorflow as tf

    x = tf.constant([[1.0, 0.0], [-1.0, 4.0]])
    tf.math.log(x)
    tf.linalg.svd(x + 1.0)
    tf.split(tf.cast(x, tf.bfloat16) / 0.0, 2)
    tf.unique(tf.constant([3, 1, 3]))
    tf.strings.as_string(x)
    tf.complex(x, x * np.inf)
    tf.Variable(x).assign(x * 2.0)
    tf.zeros([0, 3]) * 2.0


PROGRAMS: dict[str, Callable[[], None]] = {"custom_loop": custom_loop, "keras_fit": keras_fit, "eager": eager}


def write_event_set(root: Path, mode: str, program: Callable[[], None], buffer: int = -1) -> Path:
    """The folder `root`, into which Debugger V2 wrote what `program` did."""
    import tensorflow as tf

    tf.debugging.experimental.enable_dump_debug_info(str(root), tensor_debug_mode=mode, circular_buffer_size=buffer)
    try:
        program()
    finally:
        tf.debugging.experimental.disable_dump_debug_info()
    return root
