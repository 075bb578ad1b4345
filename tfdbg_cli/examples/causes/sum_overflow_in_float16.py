"""The sum of squares of a thousand errors in float16."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    bias = tf.Variable(0.0, name="bias")
    errors = tf.fill([1000], tf.constant(10.0, tf.float16))

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(errors: Any) -> Any:
        with tf.GradientTape() as tape:
            squares = tf.square(errors - tf.cast(bias, tf.float16))
            if mended:
                squares = tf.cast(squares, tf.float32)
            loss = tf.cast(tf.reduce_sum(squares), tf.float32) / 1000.0
        bias.assign_sub(0.01 * tape.gradient(loss, bias))
        return loss

    for _ in range(3):
        yield float(train_step(errors))


if __name__ == "__main__":
    command(losses, __doc__)
