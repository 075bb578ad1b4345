"""A classifier of handwritten digits that learns well, until its loss is not a number any more.

Written as in TensorFlow 1: a graph, a session, placeholders, and a cross entropy spelled out by hand.
Find the bug with `--debug`; `--fixed` computes the same loss without it.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow.compat.v1 as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.examples.digits import CLASSES, SIZE, load_digits
from tfdbg_cli.examples.flags import flag_parser


def layer(inputs: Any, size_in: int, size_out: int, seed: int) -> Any:
    """A dense layer without an activation."""
    weights = tf.Variable(tf.truncated_normal([size_in, size_out], stddev=0.1, seed=seed), name="weights")
    biases = tf.Variable(tf.zeros([size_out]), name="biases")
    return tf.add(tf.matmul(inputs, weights), biases, name="sum")


def cross_entropy(logits: Any, labels: Any, fixed: bool) -> Any:
    """The mean over the batch of -log(probability of the right class)."""
    if fixed:
        logarithms = tf.nn.log_softmax(logits)
    else:
        probabilities = tf.nn.softmax(logits, name="probabilities")
        logarithms = tf.log(probabilities)
    losses = -tf.reduce_sum(labels * logarithms, axis=1)
    return tf.reduce_mean(losses, name="loss")


def train(flags: argparse.Namespace) -> None:
    """Build the graph and run the training steps."""
    training, testing = load_digits()
    images = tf.placeholder(tf.float32, [None, SIZE * SIZE], name="images")
    labels = tf.placeholder(tf.float32, [None, CLASSES], name="labels")
    with tf.name_scope("hidden"):
        hidden = tf.nn.relu(layer(images, SIZE * SIZE, flags.hidden_size, flags.seed))
    with tf.name_scope("output"):
        logits = layer(hidden, flags.hidden_size, CLASSES, flags.seed + 1)
    with tf.name_scope("cross_entropy"):
        loss = cross_entropy(logits, labels, flags.fixed)
    with tf.name_scope("train"):
        step = tf.train.MomentumOptimizer(flags.learning_rate, momentum=0.9).minimize(loss)
    with tf.name_scope("accuracy"):
        right = tf.equal(tf.argmax(logits, axis=1), tf.argmax(labels, axis=1))
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")

    session = tf.Session()
    session.run(tf.global_variables_initializer())
    if flags.debug:
        session = tf_debug.LocalCLIDebugWrapperSession(session, ui_type=flags.ui_type, dump_root=flags.dump_root)

    batches = training.batches(flags.batch_size, flags.seed)
    for number in range(1, flags.max_steps + 1):
        x, y = next(batches)
        _, value = session.run([step, loss], feed_dict={images: x, labels: y})
        if number % 10 == 0:
            share = session.run(accuracy, feed_dict={images: testing.images, labels: testing.labels})
            print(f"step {number:3}: loss {value:.3f}, accuracy on the test images {share:.3f}")
    session.close()


def main() -> None:
    """Read the flags, then train."""
    parser = flag_parser(__doc__, max_steps=60)
    parser.add_argument("--batch_size", type=int, default=100, metavar="N", help="images in a step")
    parser.add_argument("--hidden_size", type=int, default=100, metavar="N", help="units in the hidden layer")
    parser.add_argument("--learning_rate", type=float, default=1.0, metavar="X", help="of the optimizer")
    parser.add_argument("--seed", type=int, default=7, metavar="N", help="for weights and batches")
    parser.add_argument("--fixed", action="store_true", help="compute the loss without the bug")
    flags = parser.parse_args()
    tf.disable_eager_execution()
    train(flags)


if __name__ == "__main__":
    main()
