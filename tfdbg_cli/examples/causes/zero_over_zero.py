"""The mean over the words of a sentence, of which one has none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    lengths = tf.constant([3.0, 0.0, 2.0])
    words = tf.ragged.constant([[1.0, 2.0, 3.0], [], [4.0, 5.0]]).to_tensor()

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(words: Any, lengths: Any) -> Any:
        with tf.GradientTape() as tape:
            totals = tf.reduce_sum(scale * words, axis=1)
            means = tf.math.divide_no_nan(totals, lengths) if mended else totals / lengths
            loss = tf.reduce_mean(tf.square(means - 1.0))
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(words, lengths))


if __name__ == "__main__":
    command(losses, __doc__)
