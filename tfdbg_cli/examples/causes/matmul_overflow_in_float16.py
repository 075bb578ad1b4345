"""Attention scores in float16: a sum of 64 products of 40 with 40 is above 65504."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    queries = tf.fill([2, 64], tf.constant(40.0, tf.float16))
    keys = tf.fill([3, 64], tf.constant(40.0, tf.float16))

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(queries: Any, keys: Any) -> Any:
        with tf.GradientTape() as tape:
            if mended:  # the usual scale of attention, before the product
                queries = queries / tf.sqrt(tf.cast(tf.shape(queries)[1], tf.float16))
            scores = tf.matmul(queries * tf.cast(scale, tf.float16), keys, transpose_b=True)
            loss = tf.reduce_mean(tf.nn.log_softmax(tf.cast(scores, tf.float32)))
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(queries, keys))


if __name__ == "__main__":
    command(losses, __doc__)
