"""The program that introduced tfdbg in 2017: a line through the origin, fitted by gradient descent."""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.examples.flags import flag_parser


def fit(flags: argparse.Namespace) -> None:
    """Find k in y = k x, for points of k = 42."""
    x = tf.placeholder(tf.float32, shape=[None], name="x")
    y = tf.placeholder(tf.float32, shape=[None], name="y")
    k = tf.Variable([0.0], name="k")
    y_hat = tf.multiply(k, x, name="y_hat")
    sse = tf.reduce_sum((y - y_hat) * (y - y_hat), name="sse")
    train_op = tf.train.GradientDescentOptimizer(learning_rate=0.02).minimize(sse)

    session = tf.Session()
    session.run(tf.global_variables_initializer())
    if flags.debug:
        session = tf_debug.LocalCLIDebugWrapperSession(session, ui_type=flags.ui_type, dump_root=flags.dump_root)
    xs = np.linspace(-0.5, 0.49, 100)
    for _ in range(flags.max_steps):
        session.run(train_op, feed_dict={x: xs, y: 42 * xs})
    print(f"k = {session.run(k)[0]:.3f}")
    session.close()


def main() -> None:
    """Read the flags, then fit."""
    flags = flag_parser(__doc__, max_steps=10).parse_args()
    tf.disable_eager_execution()
    fit(flags)


if __name__ == "__main__":
    main()
