"""A probability that rounding takes to 1, and its quantile of the normal distribution, which is infinite."""

from __future__ import annotations

from collections.abc import Iterator

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    shift = tf.Variable(0.0, name="shift")
    logits = tf.constant([0.3, -1.2, 19.0])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            probability = tf.sigmoid(logits + shift)
            if mended:
                probability = tf.clip_by_value(probability, 1e-6, 1 - 1e-6)
            loss = tf.reduce_mean(tf.math.ndtri(probability))
        shift.assign_sub(0.01 * tape.gradient(loss, shift))
        return loss

    for _ in range(3):
        yield float(train_step())


if __name__ == "__main__":
    command(losses, __doc__)
