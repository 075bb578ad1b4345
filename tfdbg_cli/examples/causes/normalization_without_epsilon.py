"""A normalization by hand of features, one of which is the same for every row: its variance is 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable([1.0, 1.0], name="scale")
    rows = tf.constant([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(rows: Any) -> Any:
        with tf.GradientTape() as tape:
            mean, variance = tf.nn.moments(rows, axes=[0])
            normal = (rows - mean) * tf.math.rsqrt(variance + 1e-3 if mended else variance)
            loss = tf.reduce_mean(tf.square(normal * scale - 1.0))
        scale.assign_sub(0.1 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(rows))


if __name__ == "__main__":
    command(losses, __doc__)
