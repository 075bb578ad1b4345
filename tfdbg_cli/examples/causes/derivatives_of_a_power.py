"""A penalty on third derivatives of x ** 2 at 0: the rule for powers takes 0 to the power -1 there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    points = tf.Variable([0.0, 1.0], name="points")

    def squares() -> Any:
        return points * points if mended else points**2

    @tf.function  # type: ignore[untyped-decorator]
    def train_step() -> Any:
        with tf.GradientTape() as third:
            with tf.GradientTape() as second:
                with tf.GradientTape() as first:
                    loss = tf.reduce_sum(squares())
                slope = first.gradient(loss, points)
            curvature = second.gradient(slope, points)
            loss += tf.reduce_sum(tf.square(curvature - 2.0))
        points.assign_sub(0.01 * third.gradient(loss, points))
        return loss

    for _ in range(3):
        yield float(train_step())


if __name__ == "__main__":
    command(losses, __doc__)
