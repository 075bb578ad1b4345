"""The logarithm of counts that come from a data set; one of them is 0. Keras fits the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each epoch."""
    tf.keras.utils.set_random_seed(1)
    counts = np.random.default_rng(1).integers(1, 50, (32, 4)).astype("float32")
    counts[21, 2] = 0
    data = tf.data.Dataset.from_tensor_slices((counts, counts.sum(axis=1, keepdims=True) / 100)).batch(8)

    class Logarithm(tf.keras.layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return tf.math.log(tf.maximum(x, 1e-7)) if mended else tf.math.log(x)

    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), Logarithm(), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.001), "mse")
    for _ in range(2):
        yield model.fit(data, verbose=0).history["loss"][0]


if __name__ == "__main__":
    command(losses, __doc__)
