"""The square root of a variance, whose slope at 0 is infinite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    spread = tf.Variable([1.0, 0.0, 4.0], name="spread")

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(target: Any) -> Any:
        with tf.GradientTape() as tape:
            variance = tf.nn.relu(spread)
            deviation = tf.sqrt(variance + 1e-12) if mended else tf.sqrt(variance)
            loss = tf.reduce_mean(tf.square(deviation - target))
        spread.assign_sub(0.01 * tape.gradient(loss, spread))
        return loss

    for _ in range(3):
        yield float(train_step(tf.constant([1.0, 1.0, 1.0])))


if __name__ == "__main__":
    command(losses, __doc__)
