"""The divergence of an autoencoder: the logarithm of a variance is above 88, whose exponential float32 lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable([[1.0, 30.0], [0.5, 2.0]], name="encoder")
    batch = tf.constant([[0.5, 1.0], [3.0, 2.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(x @ weights, 2, axis=1)
            if mended:
                log_variance = tf.clip_by_value(log_variance, -10.0, 10.0)
            divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance))
        weights.assign_sub(1e-6 * tape.gradient(divergence, weights))
        return divergence

    for _ in range(3):
        yield float(train_step(batch))


if __name__ == "__main__":
    command(losses, __doc__)
