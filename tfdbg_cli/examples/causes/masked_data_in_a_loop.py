"""NaN for what is missing, masked where it is summed: the gradient multiplies it by 0 all the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    weight = tf.Variable(0.5, name="weight")
    series = tf.constant([1.0, float("nan"), 2.0, 3.0])
    known = tf.math.is_finite(series)
    if mended:
        series = tf.where(known, series, 0.0)

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(series: Any, known: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = 0.0
            for i in tf.range(4):
                loss += tf.where(known[i], tf.square(weight * series[i] - 1.0), 0.0)
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss

    for _ in range(3):
        yield float(train_step(series, known))


if __name__ == "__main__":
    command(losses, __doc__)
