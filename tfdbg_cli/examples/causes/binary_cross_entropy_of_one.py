"""A binary cross entropy of probabilities: a sigmoid that rounds to 1 leaves log(1 - 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weight = tf.Variable(1.0, name="weight")
    scores = tf.constant([-1.0, 2.0, 40.0])
    labels = tf.constant([0.0, 1.0, 0.0])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(scores: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = scores * weight
            if mended:
                entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
            else:
                probability = tf.sigmoid(logits)
                entropy = -labels * tf.math.log(probability) - (1 - labels) * tf.math.log(1 - probability)
            loss = tf.reduce_mean(entropy)
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss

    for _ in range(3):
        yield float(train_step(scores, labels))


if __name__ == "__main__":
    command(losses, __doc__)
