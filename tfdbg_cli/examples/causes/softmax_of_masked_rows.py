"""Attention in which a sentence is all padding: its row of scores is nothing but -inf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    scores = tf.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [0.0, 1.0, 0.0]])
    lengths = tf.constant([3, 0, 2])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(scores: Any, lengths: Any) -> Any:
        with tf.GradientTape() as tape:
            masked = tf.where(tf.sequence_mask(lengths, 3), scores * scale, -1e9 if mended else float("-inf"))
            attention = tf.nn.softmax(masked)
            loss = tf.reduce_mean(tf.square(attention))
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(scores, lengths))


if __name__ == "__main__":
    command(losses, __doc__)
