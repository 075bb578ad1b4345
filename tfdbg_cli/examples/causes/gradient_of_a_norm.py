"""The distance of two vectors, one pair of which is the same: before TensorFlow 2.22 tf.norm has no slope at 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    anchors = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="anchors")
    positives = tf.constant([[1.5, 2.0], [3.0, 4.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(positives: Any) -> Any:
        with tf.GradientTape() as tape:
            apart = anchors - positives
            squares = tf.reduce_sum(tf.square(apart), axis=1)
            distance = tf.sqrt(squares + 1e-12) if mended else tf.norm(apart, axis=1)
            loss = tf.reduce_mean(distance)
        anchors.assign_sub(0.1 * tape.gradient(loss, anchors))
        return loss

    for _ in range(3):
        yield float(train_step(positives))


if __name__ == "__main__":
    command(losses, __doc__)
