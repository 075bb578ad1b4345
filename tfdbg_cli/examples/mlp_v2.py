"""The program of TensorFlow's tutorial on Debugger V2: a perceptron whose loss takes the logarithm of 0.

Its variables, model, loss and training step are its own; every step is one call of a tf.function. Find the bug with
`--debug`, or with `tfdbg run -m tfdbg_cli.examples.mlp_v2`; `--fixed` computes the same loss without it. With
`--dump_dir` Debugger V2 writes down what happens, for `tfdbg open`.
"""

from __future__ import annotations

import argparse
import os
from itertools import pairwise
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.examples.digits import CLASSES, SIZE, load_digits
from tfdbg_cli.examples.flags import flag_parser


class Perceptron(tf.Module):  # type: ignore[misc]
    """One hidden layer. Momentum is kept beside the weights."""

    def __init__(self, flags: argparse.Namespace) -> None:
        super().__init__(name="perceptron")
        sizes = (SIZE * SIZE, flags.hidden_size, CLASSES)
        self.rate, self.fixed = flags.learning_rate, flags.fixed
        self.kernels, self.biases = [], []
        for number, (size_in, size_out) in enumerate(pairwise(sizes)):
            start = tf.random.stateless_normal([size_in, size_out], [flags.seed, number], stddev=0.1)
            self.kernels.append(tf.Variable(start, name=f"kernel_{number}"))
            self.biases.append(tf.Variable(tf.zeros([size_out]), name=f"bias_{number}"))
        self.speeds = [tf.Variable(tf.zeros_like(weight)) for weight in [*self.kernels, *self.biases]]

    @tf.function  # type: ignore[untyped-decorator]
    def logits(self, images: Any) -> Any:
        """What the softmax takes, for each image and class."""
        with tf.name_scope("hidden"):
            hidden = tf.nn.relu(images @ self.kernels[0] + self.biases[0])
        with tf.name_scope("output"):
            return hidden @ self.kernels[1] + self.biases[1]

    @tf.function  # type: ignore[untyped-decorator]
    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        """The mean over the batch of -log(probability of the right class)."""
        if self.fixed:
            logarithms = tf.nn.log_softmax(logits)
        else:
            probabilities = tf.nn.softmax(logits, name="probabilities")
            logarithms = tf.math.log(probabilities)
        return tf.reduce_mean(-tf.reduce_sum(labels * logarithms, axis=1))

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(self, images: Any, labels: Any) -> Any:
        """Move the weights down the gradient; the loss before."""
        weights = [*self.kernels, *self.biases]
        with tf.GradientTape() as tape:
            loss = self.cross_entropy(self.logits(images), labels)
        for weight, speed, gradient in zip(weights, self.speeds, tape.gradient(loss, weights), strict=True):
            speed.assign(0.9 * speed - self.rate * gradient)
            weight.assign_add(speed)
        return loss


def train(flags: argparse.Namespace) -> None:
    """Take the training steps, and measure now and then."""
    training, testing = load_digits()
    model = Perceptron(flags)
    batches = training.batches(flags.batch_size, flags.seed)
    for number in range(1, flags.max_steps + 1):
        images, labels = next(batches)
        loss = model.train_step(tf.constant(images), tf.constant(labels))
        if number % 10 == 0:
            guesses = tf.argmax(model.logits(tf.constant(testing.images)), axis=1)
            share = tf.reduce_mean(tf.cast(guesses == testing.labels.argmax(axis=1), tf.float32))
            print(f"step {number:3}: loss {loss:.3f}, accuracy on the test images {share:.3f}")


def main() -> None:
    """Read the flags, then train."""
    parser = flag_parser(__doc__, max_steps=60)
    parser.add_argument("--batch_size", type=int, default=100, metavar="N", help="images in a step")
    parser.add_argument("--hidden_size", type=int, default=64, metavar="N", help="units in the hidden layer")
    parser.add_argument("--learning_rate", type=float, default=1.0, metavar="X", help="of the optimizer")
    parser.add_argument("--seed", type=int, default=7, metavar="N", help="for weights and batches")
    parser.add_argument("--dump_dir", metavar="DIR", help="have Debugger V2 write an event set into DIR")
    parser.add_argument(
        "--dump_tensor_debug_mode", default="FULL_HEALTH", metavar="MODE", help="what it writes of each tensor"
    )
    parser.add_argument(
        "--dump_circular_buffer_size", type=int, default=-1, metavar="N", help="keep the last N events; -1: all"
    )
    parser.add_argument("--fixed", action="store_true", help="compute the loss without the bug")
    flags = parser.parse_args()
    if flags.debug:
        tf_debug.enable(flags.ui_type, flags.dump_root)
    if flags.dump_dir:
        tf.debugging.experimental.enable_dump_debug_info(
            flags.dump_dir,
            tensor_debug_mode=flags.dump_tensor_debug_mode,
            circular_buffer_size=flags.dump_circular_buffer_size,
        )
    train(flags)


if __name__ == "__main__":
    main()
