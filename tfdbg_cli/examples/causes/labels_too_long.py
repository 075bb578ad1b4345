"""CTC of labels for which there are too few steps: two that are equal need a blank between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    steps = 4 if mended else 3
    bias = tf.Variable(tf.zeros([5]), name="bias")
    labels = tf.sparse.from_dense([[1, 2, 3], [2, 2, 1]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.zeros([steps, 2, 5]) + bias
            loss = tf.reduce_mean(tf.compat.v1.nn.ctc_loss(labels, logits, tf.fill([2], steps)))
        bias.assign_sub(0.1 * tape.gradient(loss, bias))
        return loss

    for _ in range(3):
        yield float(train_step(labels))


if __name__ == "__main__":
    command(losses, __doc__)
