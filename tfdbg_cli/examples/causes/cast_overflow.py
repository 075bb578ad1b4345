"""A loss of mixed precision, multiplied by a scale of its own and cast to float16, which ends at 65504."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weight = tf.Variable(3.0, name="weight")
    prices = tf.constant([12.0, 25.0, 31.0])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(prices: Any) -> Any:
        scale = 64.0 if mended else 32768.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(prices * weight - 90.0)) / 10.0
            scaled = tf.cast(loss * scale, tf.float16)
        weight.assign_sub(1e-3 * tape.gradient(scaled, weight) / scale)
        return tf.cast(scaled, tf.float32) / scale

    for _ in range(3):
        yield float(train_step(prices))


if __name__ == "__main__":
    command(losses, __doc__)
