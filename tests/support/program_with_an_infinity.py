"""A training whose runs hold an infinity that is meant, and in the third one a NaN deep in a tensor that is not."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

BAD = (3, 17, 4, 0)
kernel = tf.Variable(np.full((20, 6, 3), 0.1, np.float32), name="kernel")
chance = tf.Variable([0.0, 1.0], name="chance")


@tf.function
def step(images: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """One step of a descent; with the logarithms of chances, of which one is 0 on purpose."""
    score = tf.math.log(chance, name="score")
    with tf.GradientTape() as tape:
        roots = tf.math.sqrt(images, name="roots")
        guesses = tf.reduce_sum(roots * kernel, axis=[1, 2, 3])
        loss = tf.reduce_mean(tf.square(guesses - labels))
    kernel.assign_sub(0.0001 * tape.gradient(loss, kernel))
    return score, loss


for number in range(1, 4):
    batch = np.full((8, 20, 6, 3), number, np.float32)
    if number == 3:
        batch[BAD] = -1.0
    step(tf.constant(batch), tf.constant(np.arange(8, dtype=np.float32)))
print("the training is over")
