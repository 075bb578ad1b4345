"""A regression whose steps are too long: each lands farther from the goal than the one before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable([[0.5], [0.5]], name="weights")
    rows = tf.constant([[10.0, 3.0], [20.0, 1.0], [30.0, 5.0]])
    optimizer = tf.keras.optimizers.SGD(0.001 if mended else 0.1)

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(rows: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(rows @ weights - 1.0))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    for _ in range(20):
        yield float(train_step(rows))


if __name__ == "__main__":
    command(losses, __doc__)
