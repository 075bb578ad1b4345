"""A column of the data that nobody measured in most rows: to leave out such rows would leave out nearly all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each epoch."""
    tf.keras.utils.set_random_seed(3)
    rows = np.random.default_rng(0).random((32, 4)).astype(np.float32)
    targets = rows[:, :1] - rows[:, 1:2]
    rows[3:, 2] = np.nan
    if mended:
        rows = np.nan_to_num(rows)
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    for _ in range(2):
        yield float(model.fit(rows, targets, batch_size=32, verbose=0, shuffle=False).history["loss"][0])


if __name__ == "__main__":
    command(losses, __doc__)
