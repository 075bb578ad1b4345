"""Weights that are one over the count of a class; a class that no image has counts 0. A session trains."""

from __future__ import annotations

from collections.abc import Iterator

import tensorflow.compat.v1 as tf

from tfdbg_cli.examples.causes.command import command


def losses(mended: bool) -> Iterator[float]:
    """The loss of each step."""
    with tf.Graph().as_default(), tf.Session() as session:
        errors = tf.placeholder(tf.float32, [None], name="errors")
        counts = tf.placeholder(tf.float32, [None], name="counts")
        bias = tf.get_variable("bias", initializer=0.5)
        weights = tf.math.divide_no_nan(1.0, counts) if mended else 1.0 / counts
        loss = tf.reduce_mean(tf.square(errors - bias) * weights)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        for seen in ([5, 3, 2], [4, 0, 6], [1, 8, 1]):
            _, value = session.run([train_op, loss], {errors: [0.1, 0.2, 0.3], counts: seen})
            yield float(value)


if __name__ == "__main__":
    command(losses, __doc__)
