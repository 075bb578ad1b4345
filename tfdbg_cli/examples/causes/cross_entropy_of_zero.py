"""A cross entropy of probabilities: a softmax so sure of itself that the other classes are exactly 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step; the logits are as far apart as those of a model that was trained for long."""
    weights = tf.Variable([[1.0, 0.0, -1.0], [0.0, 1.0, 0.5]], name="weights")
    images = tf.constant([[1.0, 2.0], [150.0, 1.0], [2.0, 1.0]])
    labels = tf.one_hot([0, 1, 2], 3)

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = images @ weights
            logarithms = tf.nn.log_softmax(logits) if mended else tf.math.log(tf.nn.softmax(logits))
            loss = -tf.reduce_mean(tf.reduce_sum(labels * logarithms, axis=1))
        weights.assign_sub(0.001 * tape.gradient(loss, weights))
        return loss

    for _ in range(3):
        yield float(train_step(images, labels))


if __name__ == "__main__":
    command(losses, __doc__)
