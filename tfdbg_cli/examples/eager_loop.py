"""A first model as people write it: a loop, a tape, no tf.function. Its loss is NaN.

`tfdbg run --until has_inf_or_nan -m tfdbg_cli.examples.eager_loop` stops at the op that makes it so.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

BATCH, STEPS = 16, 40


def main() -> None:
    """Tell points inside of a circle from those outside, with the binary cross entropy written out."""
    chance = np.random.default_rng(3)
    points = chance.uniform(-2, 2, size=(BATCH * STEPS, 2)).astype(np.float32)
    inside = (np.sum(points**2, axis=1, keepdims=True) < 2).astype(np.float32)
    hidden = tf.Variable(chance.normal(size=(2, 16)).astype(np.float32), name="hidden")
    shift = tf.Variable(np.zeros(16, np.float32), name="shift")
    output = tf.Variable(chance.normal(size=(16, 1)).astype(np.float32), name="output")
    weights = [hidden, shift, output]
    for step in range(STEPS):
        x, y = points[step * BATCH : (step + 1) * BATCH], inside[step * BATCH : (step + 1) * BATCH]
        with tf.GradientTape() as tape:
            p = tf.sigmoid(tf.nn.relu(x @ hidden + shift) @ output)
            loss = -tf.reduce_mean(y * tf.math.log(p) + (1 - y) * tf.math.log(1 - p))
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(8.0 * gradient)
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.numpy():.4f}")


if __name__ == "__main__":
    main()
