"""Features that are powers of a measurement, up to the twelfth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable(tf.zeros([12]), name="weights")
    measured = tf.constant([1.0, 20.0, 3000.0])
    exponents = tf.range(1.0, 13.0)

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(measured: Any) -> Any:
        with tf.GradientTape() as tape:
            x = measured / tf.reduce_max(tf.abs(measured)) if mended else measured
            features = tf.pow(x[:, tf.newaxis], exponents)
            loss = tf.reduce_mean(tf.square(tf.linalg.matvec(features, weights) - 1.0))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    for _ in range(3):
        yield float(train_step(measured))


if __name__ == "__main__":
    command(losses, __doc__)
