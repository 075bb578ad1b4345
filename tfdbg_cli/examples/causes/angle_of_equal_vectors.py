"""The angle of two vectors by acos: rounding takes the cosine above 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    left = tf.constant([[0.1, 0.7], [1.0, 1.0], [0.3, 0.5]])
    right = tf.constant([[0.7, 0.1], [1.0, 1.0], [0.5, -0.3]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(left: Any, right: Any) -> Any:
        with tf.GradientTape() as tape:
            lengths = tf.norm(left, axis=1) * tf.norm(right, axis=1)
            cosine = scale * tf.reduce_sum(left * right, axis=1) / lengths
            if mended:
                cosine = tf.clip_by_value(cosine, -1 + 1e-7, 1 - 1e-7)
            loss = tf.reduce_mean(tf.acos(cosine))
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(left, right))


if __name__ == "__main__":
    command(losses, __doc__)
