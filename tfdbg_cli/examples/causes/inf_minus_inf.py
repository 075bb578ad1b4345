"""A stable softmax by hand with a mask of -inf: in a row that is all masked the maximum is -inf too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    scores = tf.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    kept = tf.constant([[True, True, False], [False, False, False]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(scores: Any, kept: Any) -> Any:
        with tf.GradientTape() as tape:
            masked = tf.where(kept, scores * scale, -1e9 if mended else float("-inf"))
            shifted = masked - tf.reduce_max(masked, axis=1, keepdims=True)
            powers = tf.exp(shifted)
            shares = powers / tf.reduce_sum(powers, axis=1, keepdims=True)
            loss = tf.reduce_mean(tf.square(shares))
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(scores, kept))


if __name__ == "__main__":
    command(losses, __doc__)
