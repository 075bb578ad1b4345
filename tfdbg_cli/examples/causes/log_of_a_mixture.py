"""The density of a mixture at a point so far from every component that float32 has no number for it but 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    means = tf.Variable([-1.0, 0.5, 2.0], name="means")
    weights = tf.constant([0.2, 0.5, 0.3])
    points = tf.constant([0.1, 1.5, 18.0, -0.7])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            exponents = -0.5 * tf.square(x[:, None] - means)
            if mended:
                likelihood = tf.reduce_logsumexp(exponents + tf.math.log(weights), axis=1)
            else:
                likelihood = tf.math.log(tf.reduce_sum(weights * tf.exp(exponents), axis=1))
            loss = -tf.reduce_mean(likelihood)
        means.assign_sub(0.01 * tape.gradient(loss, means))
        return loss

    for _ in range(3):
        yield float(train_step(points))


if __name__ == "__main__":
    command(losses, __doc__)
