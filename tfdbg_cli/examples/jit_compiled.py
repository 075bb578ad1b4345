"""A training step that XLA compiles, with a loss that is the mean over classes instead of images.

A batch in which one class is missing has the mean of nothing for it: 0/0.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from tfdbg_cli.examples.digits import CLASSES, SIZE, load_digits


def balanced_loss(logits: Any, labels: Any) -> Any:
    """The cross entropy of each class on its own, and the mean of these: rare classes count as much as others."""
    losses = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    of_class = tf.reduce_sum(labels * losses[:, tf.newaxis], axis=0)
    images_of_class = tf.reduce_sum(labels, axis=0)
    return tf.reduce_mean(of_class / images_of_class)


def train(flags: argparse.Namespace) -> None:
    """Take the training steps."""
    training, _ = load_digits()
    weights = tf.Variable(tf.zeros([SIZE * SIZE, CLASSES]), name="weights")
    biases = tf.Variable(tf.zeros([CLASSES]), name="biases")

    @tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = balanced_loss(images @ weights + biases, labels)
        slope, slope_of_biases = tape.gradient(loss, (weights, biases))
        weights.assign_sub(flags.learning_rate * slope)
        biases.assign_sub(flags.learning_rate * slope_of_biases)
        return loss

    batches = training.batches(flags.batch_size, flags.seed)
    for number in range(1, flags.max_steps + 1):
        images, labels = next(batches)
        print(f"step {number:2}: loss {train_step(tf.constant(images), tf.constant(labels)):.3f}")


def main() -> None:
    """Read the flags, then train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--max_steps", type=int, default=20, metavar="N", help="training steps")
    parser.add_argument("--batch_size", type=int, default=50, metavar="N", help="images in a step")
    parser.add_argument("--learning_rate", type=float, default=0.1, metavar="X", help="of the gradient descent")
    parser.add_argument("--seed", type=int, default=7, metavar="N", help="for batches")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
