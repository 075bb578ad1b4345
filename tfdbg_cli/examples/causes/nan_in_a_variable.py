"""Weights read from an old file, in which one is NaN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    stored = np.array([[0.1, 0.2], [np.nan, 0.3]], np.float32)
    if mended:
        stored = np.where(np.isfinite(stored), stored, 0.0).astype(np.float32)
    weights = tf.Variable(stored, name="weights")

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(batch @ weights - 1.0))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    for _ in range(3):
        yield float(train_step(tf.constant([[1.0, 2.0], [3.0, 4.0]])))


if __name__ == "__main__":
    command(losses, __doc__)
