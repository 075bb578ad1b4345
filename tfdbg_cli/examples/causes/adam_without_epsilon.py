"""Adam with an epsilon of 0, on weights that have no gradient yet: its step divides 0 by 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable([1.0, 1.0], name="weights")
    optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-7 if mended else 0.0)
    rows = tf.constant([[1.0, 0.0], [2.0, 0.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(rows: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.linalg.matvec(rows, weights) - 1.0))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    for _ in range(3):
        yield float(train_step(rows))


if __name__ == "__main__":
    command(losses, __doc__)
