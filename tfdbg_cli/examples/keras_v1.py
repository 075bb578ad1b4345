"""A Keras 2 model (tf_keras) whose session tfdbg wraps.

Some pixels of the digits are blank in every image. Batch normalization without an epsilon divides by their
standard deviation, which is zero.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["TF_USE_LEGACY_KERAS"] = "1"  # tf.keras is Keras 2, the package tf_keras

import tensorflow.compat.v1 as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.examples.digits import CLASSES, SIZE, load_digits
from tfdbg_cli.examples.flags import flag_parser


def make_model(epsilon: float) -> Any:
    """Normalization, a hidden layer, the classes."""
    model = tf.keras.Sequential(name="digits")
    model.add(tf.keras.layers.InputLayer(input_shape=(SIZE * SIZE,), name="images"))
    model.add(tf.keras.layers.BatchNormalization(epsilon=epsilon, name="normal"))
    model.add(tf.keras.layers.Dense(32, activation="relu", name="hidden"))
    model.add(tf.keras.layers.Dense(CLASSES, activation="softmax", name="classes"))
    model.compile(optimizer="sgd", loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def train(flags: argparse.Namespace) -> None:
    """Fit the model, in a session of TensorFlow 1."""
    tf.set_random_seed(0)
    if flags.debug:
        session = tf_debug.LocalCLIDebugWrapperSession(tf.Session(), ui_type=flags.ui_type, dump_root=flags.dump_root)
        tf.keras.backend.set_session(session)
    training, _ = load_digits()
    batch = 50
    model = make_model(flags.epsilon)
    rows = flags.max_steps * batch
    model.fit(training.images[:rows], training.labels[:rows], batch_size=batch, epochs=1, shuffle=False, verbose=2)


def main() -> None:
    """Read the flags, then train."""
    parser = flag_parser(__doc__, max_steps=20)
    parser.add_argument("--epsilon", type=float, default=0.0, metavar="X", help="1e-3 is Keras's own")
    flags = parser.parse_args()
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    train(flags)


if __name__ == "__main__":
    main()
