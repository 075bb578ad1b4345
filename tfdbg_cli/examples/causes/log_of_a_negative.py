"""The logarithm of what a linear layer gives, which is below 0 now and then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable([[1.0], [-0.5]], name="weights")
    features = tf.constant([[1.0, 1.0], [2.0, 1.0], [1.0, 3.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(features: Any) -> Any:
        with tf.GradientTape() as tape:
            rate = features @ weights
            if mended:
                rate = tf.nn.softplus(rate)
            loss = tf.reduce_mean(rate - tf.math.log(rate))
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
        return loss

    for _ in range(3):
        yield float(train_step(features))


if __name__ == "__main__":
    command(losses, __doc__)
