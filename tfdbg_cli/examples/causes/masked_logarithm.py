"""A tf.where that hides the logarithm of 0 from the loss; the gradient still passes through it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    shares = tf.constant([0.5, 0.0, 0.25, 0.25])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(shares: Any) -> Any:
        with tf.GradientTape() as tape:
            x = shares * scale
            if mended:
                x = tf.where(shares > 0, x, 1.0)
            logarithms = tf.where(shares > 0, tf.math.log(x), 0.0)
            loss = -tf.reduce_sum(shares * logarithms)
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(shares))


if __name__ == "__main__":
    command(losses, __doc__)
