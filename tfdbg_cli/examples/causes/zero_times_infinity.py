"""A mask made by a product: where it should do nothing it is 0 times -inf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    scores = tf.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    kept = tf.constant([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(scores: Any, kept: Any) -> Any:
        with tf.GradientTape() as tape:
            mask = tf.where(kept > 0, 0.0, float("-inf")) if mended else (1.0 - kept) * float("-inf")
            shares = tf.nn.softmax(scores * scale + mask)
            loss = tf.reduce_mean(tf.square(shares))
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(scores, kept))


if __name__ == "__main__":
    command(losses, __doc__)
