"""A softmax by hand: the exponential of a logit above 88 is more than float32 can hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    scores = tf.constant([[1.0, 2.0, 3.0], [10.0, 95.0, 20.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(scores: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = scores * scale
            if mended:
                shares = tf.nn.softmax(logits)
            else:
                powers = tf.exp(logits)
                shares = powers / tf.reduce_sum(powers, axis=1, keepdims=True)
            loss = tf.reduce_mean(tf.square(shares - 0.5))
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(scores))


if __name__ == "__main__":
    command(losses, __doc__)
