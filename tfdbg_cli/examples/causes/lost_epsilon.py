"""An epsilon of 1e-8 that is to keep a logarithm away from 0: beside 1 it is lost in float32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weight = tf.Variable(1.0, name="weight")

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(scores: Any) -> Any:
        with tf.GradientTape() as tape:
            p = tf.sigmoid(weight * scores)
            kept = 1 - tf.clip_by_value(p, 1e-7, 1 - 1e-7) if mended else 1e-8 + 1 - p
            loss = -tf.reduce_mean(tf.math.log(kept))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    for _ in range(3):
        yield float(train_step(tf.constant([1.0, 2.0, 40.0])))


if __name__ == "__main__":
    command(losses, __doc__)
