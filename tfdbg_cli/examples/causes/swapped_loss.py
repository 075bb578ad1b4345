"""A loss of one's own whose arguments are swapped: the logarithm is taken of the targets, which are 0 and 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each epoch."""
    tf.keras.utils.set_random_seed(3)

    def cross_entropy(first: Any, second: Any) -> Any:
        predicted, wanted = (second, first) if mended else (first, second)
        return -tf.reduce_sum(wanted * tf.math.log(predicted), axis=-1)

    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
    model.compile("sgd", cross_entropy)
    rows = np.random.default_rng(0).random((9, 4)).astype(np.float32)
    targets = np.eye(3, dtype=np.float32)[np.arange(9) % 3]
    for _ in range(2):
        yield float(model.fit(rows, targets, batch_size=9, verbose=0, shuffle=False).history["loss"][0])


if __name__ == "__main__":
    command(losses, __doc__)
