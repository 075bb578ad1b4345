"""Training in a MonitoredTrainingSession, with hooks: tfdbg is one of them.

The learning rate is too high for pixels from 0 to 16, so the weights grow from step to step until the loss
overflows. NanTensorHook then ends the training; tfdbg, which comes first, shows why.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.examples.digits import SIZE, load_digits
from tfdbg_cli.examples.flags import flag_parser


def train(flags: argparse.Namespace) -> None:
    """Fit the digit on the image by linear regression."""
    training, _ = load_digits()
    images = tf.placeholder(tf.float32, [None, SIZE * SIZE], name="images")
    digits = tf.placeholder(tf.float32, [None, 1], name="digits")
    weights = tf.get_variable("weights", [SIZE * SIZE, 1], initializer=tf.zeros_initializer())
    guess = tf.matmul(images, weights, name="guess")
    loss = tf.reduce_mean(tf.squared_difference(guess, digits), name="loss")
    count = tf.train.get_or_create_global_step()
    step = tf.train.GradientDescentOptimizer(flags.learning_rate).minimize(loss, global_step=count)

    hooks = [tf.train.StopAtStepHook(last_step=flags.max_steps), tf.train.NanTensorHook(loss)]
    if flags.debug:
        hooks.append(tf_debug.LocalCLIDebugHook(ui_type=flags.ui_type, dump_root=flags.dump_root))
    batches = training.batches(size=100, seed=0)
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        while not session.should_stop():
            x, y = next(batches)
            feeds = {images: 16 * x, digits: np.argmax(y, axis=1)[:, np.newaxis]}
            _, value, number = session.run([step, loss, count], feed_dict=feeds)
            print(f"step {number:3}: loss {value:.4g}")


def main() -> None:
    """Read the flags, then train."""
    parser = flag_parser(__doc__, max_steps=40)
    parser.add_argument("--learning_rate", type=float, default=0.005, metavar="X", help="1e-4 is fine")
    flags = parser.parse_args()
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    train(flags)


if __name__ == "__main__":
    main()
