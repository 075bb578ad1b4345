"""Vectors divided by their length, of which one is all 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="weights")
    vectors = tf.constant([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(vectors: Any) -> Any:
        with tf.GradientTape() as tape:
            projected = vectors @ weights
            if mended:
                unit = tf.math.l2_normalize(projected, axis=1)
            else:
                unit = projected / tf.norm(projected, axis=1, keepdims=True)
            loss = tf.reduce_mean(tf.square(unit - 0.5))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    for _ in range(3):
        yield float(train_step(vectors))


if __name__ == "__main__":
    command(losses, __doc__)
