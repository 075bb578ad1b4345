"""A variance computed as E[x²] - E[x]², which rounding takes below 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    pressures = tf.constant([[1013.3, 1013.3, 1013.3], [990.0, 1013.0, 1020.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(pressures: Any) -> Any:
        with tf.GradientTape() as tape:
            if mended:
                _, variance = tf.nn.moments(pressures, axes=[1])
            else:
                mean = tf.reduce_mean(pressures, axis=1)
                variance = tf.reduce_mean(tf.square(pressures), axis=1) - tf.square(mean)
            deviation = tf.sqrt(variance)
            loss = tf.reduce_mean(scale * deviation)
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(pressures))


if __name__ == "__main__":
    command(losses, __doc__)
