"""A training loop of one's own whose loss stays finite while its gradient is infinite.

A network places images in the plane, so that those of the same digit lie close together. Now and then a pair holds
the same image twice: the distance is 0, and the square root has no slope there. `--eager` runs the step op by op.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras

from tfdbg_cli.examples.digits import SIZE, load_digits

MARGIN = 1.0  # different digits should be this far apart


def distance(left: Any, right: Any) -> Any:
    """How far the points in the rows of `left` and `right` are apart."""
    return tf.sqrt(tf.reduce_sum(tf.square(left - right), axis=1))


def contrastive_loss(distances: Any, same: Any) -> Any:
    """Small when pairs of the same digit are close and all others a margin apart."""
    return tf.reduce_mean(tf.where(same, distances, tf.nn.relu(MARGIN - distances)))


def train(flags: argparse.Namespace) -> None:
    """Take the training steps."""
    keras.utils.set_random_seed(flags.seed)
    training, _ = load_digits()
    model = keras.Sequential(
        [
            keras.Input([SIZE * SIZE]),
            keras.layers.Dense(32, "tanh", name="hidden"),
            keras.layers.Dense(2, name="place"),
        ]
    )
    optimizer = keras.optimizers.SGD(0.1)

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(left: Any, right: Any, same: Any) -> Any:
        with tf.GradientTape() as tape:
            distances = distance(model(left), model(right))
            loss = contrastive_loss(distances, same)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    random = np.random.default_rng(flags.seed)
    digit = training.labels.argmax(axis=1)
    for number in range(1, flags.max_steps + 1):
        pairs = random.integers(0, flags.images, [2, flags.batch_size])
        same = digit[pairs[0]] == digit[pairs[1]]
        loss = train_step(training.images[pairs[0]], training.images[pairs[1]], same)
        print(f"step {number:2}: loss {loss:.3f}")


def main() -> None:
    """Read the flags, then train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--max_steps", type=int, default=8, metavar="N", help="training steps")
    parser.add_argument("--batch_size", type=int, default=64, metavar="N", help="pairs in a step")
    parser.add_argument("--images", type=int, default=1000, metavar="N", help="how many images to draw pairs from")
    parser.add_argument("--seed", type=int, default=7, metavar="N", help="for weights and pairs")
    parser.add_argument("--eager", action="store_true", help="make no graph of the step")
    flags = parser.parse_args()
    tf.config.run_functions_eagerly(flags.eager)
    train(flags)


if __name__ == "__main__":
    main()
