"""Weights of 1/x in half precision: of a very small x the reciprocal is above 65504."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    distances = tf.constant([0.5, 1e-7, 2.0], tf.float16)

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(distances: Any) -> Any:
        with tf.GradientTape() as tape:
            shares = tf.math.reciprocal(tf.maximum(distances, 1e-4) if mended else distances)
            loss = tf.square(scale * 1e-3 * tf.reduce_max(tf.cast(shares, tf.float32)))
        scale.assign_sub(0.001 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(distances))


if __name__ == "__main__":
    command(losses, __doc__)
