"""Weights kept in float16: the step that the optimizer takes is finite, the sum is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable([60000.0, 1.0], dtype=tf.float16, name="weights")
    rate = 100.0 if mended else 20000.0

    @tf.function  # type: ignore[untyped-decorator]
    def train_step() -> Any:
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(weights)
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return tf.cast(loss, tf.float32)

    for _ in range(3):
        yield float(train_step())


if __name__ == "__main__":
    command(losses, __doc__)
