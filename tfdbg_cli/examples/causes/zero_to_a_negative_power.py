"""The degrees of a graph to the power of -1/2; a node without neighbours has degree 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable([1.0, 2.0, 3.0], name="weights")
    edges = tf.constant([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(edges: Any) -> Any:
        degrees = tf.reduce_sum(edges, axis=1)
        if mended:
            degrees = tf.maximum(degrees, 1e-7)
        root = tf.pow(degrees, -0.5)
        with tf.GradientTape() as tape:
            spread = tf.linalg.matvec(edges * root * root[:, tf.newaxis], weights)
            loss = tf.reduce_mean(tf.square(spread))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    for _ in range(3):
        yield float(train_step(edges))


if __name__ == "__main__":
    command(losses, __doc__)
