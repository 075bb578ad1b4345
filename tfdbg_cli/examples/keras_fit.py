"""A Keras model whose `fit` turns NaN: a layer of its own divides by zero, for a few images only.

Nothing in here knows of tfdbg. Find the bug with `tfdbg run -m tfdbg_cli.examples.keras_fit`; `--fixed` mends it.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# On some processors oneDNN's ReLU makes 0 of NaN. The model does not learn then either, and its loss is a number:
# tfdbg finds the NaN there, too, but nobody would look for one.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf
from tensorflow import keras

from tfdbg_cli.examples.digits import CLASSES, SIZE, load_digits

HALF = SIZE // 2


class CentreOfInk(keras.layers.Layer):  # type: ignore[misc]
    """How many rows down the ink lies in each quarter of an image, on average: of 64 pixels four numbers are made."""

    def __init__(self, fixed: bool, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.fixed = fixed

    def call(self, images: Any) -> Any:
        """The mean of the rows of each quarter, weighted with their ink."""
        quarters = tf.reshape(images, [-1, 2, HALF, 2, HALF])
        ink = tf.reduce_sum(quarters, axis=4)
        rows = tf.reshape(tf.range(float(HALF)), [1, 1, HALF, 1])
        weighted = tf.reduce_sum(ink * rows, axis=2)
        total = tf.reduce_sum(ink, axis=2)
        if self.fixed:
            return tf.reshape(tf.math.divide_no_nan(weighted, total), [-1, 4])
        return tf.reshape(weighted / total, [-1, 4])


def make_model(fixed: bool) -> Any:
    """The pixels and the centres of ink side by side, a hidden layer, the classes."""
    images = keras.Input([SIZE * SIZE], name="images")
    centres = CentreOfInk(fixed, name="centre")(images)
    joined = keras.layers.Concatenate(name="joined")([images, centres])
    hidden = keras.layers.Dense(32, activation="relu", name="hidden")(joined)
    classes = keras.layers.Dense(CLASSES, activation="softmax", name="classes")(hidden)
    model = keras.Model(images, classes, name="digits")
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def train(flags: argparse.Namespace) -> None:
    """Fit the model, then measure it."""
    keras.utils.set_random_seed(flags.seed)
    training, testing = load_digits()
    model = make_model(flags.fixed)
    model.fit(training.images, training.labels, batch_size=50, epochs=flags.epochs, verbose=2)
    loss, share = model.evaluate(testing.images, testing.labels, verbose=0)
    print(f"loss {loss:.3f}, accuracy on the test images {share:.3f}")


def main() -> None:
    """Read the flags, then train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=2, metavar="N", help="times to go through the images")
    parser.add_argument("--fixed", action="store_true", help="let an empty quarter have its centre at 0")
    parser.add_argument("--seed", type=int, default=7, metavar="N", help="for weights and the order of the images")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
