"""A measurement that is missing: NaN in one row of the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weights = tf.Variable([[0.1], [0.2]], name="weights")
    rows = np.arange(16, dtype=np.float32).reshape(8, 2) / 10
    rows[5, 1] = np.nan
    data = tf.data.Dataset.from_tensor_slices(rows)
    if mended:
        data = data.filter(lambda row: tf.reduce_all(tf.math.is_finite(row)))

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(batch @ weights - 1.0))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    for batch in data.batch(4):
        yield float(train_step(batch))


if __name__ == "__main__":
    command(losses, __doc__)
