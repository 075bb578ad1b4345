"""The entropy of attention whose scores are masked by the log of a mask of zeros and ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    scores = tf.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [0.0, 1.0, 0.0]])
    mask = tf.constant([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(scores: Any, mask: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = scores * scale + ((1 - mask) * -1e9 if mended else tf.math.log(mask))
            share = tf.nn.softmax(logits)
            logarithm = tf.nn.log_softmax(logits) if mended else tf.math.log(share)
            loss = -tf.reduce_mean(tf.reduce_sum(share * logarithm, axis=1))
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(scores, mask))


if __name__ == "__main__":
    command(losses, __doc__)
