"""A tf.where that takes the place of 0 to the power of 1/2; its infinite slope still gets into the gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    scale = tf.Variable(1.0, name="scale")
    energies = tf.constant([4.0, 0.0, 9.0])

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(energies: Any) -> Any:
        with tf.GradientTape() as tape:
            x = energies * scale
            if mended:
                x = tf.where(energies > 0, x, 1.0)
            speeds = tf.where(energies > 0, tf.pow(x, 0.5), 0.0)
            loss = tf.reduce_mean(speeds)
        scale.assign_sub(0.01 * tape.gradient(loss, scale))
        return loss

    for _ in range(3):
        yield float(train_step(energies))


if __name__ == "__main__":
    command(losses, __doc__)
