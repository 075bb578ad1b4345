"""Errors of TensorFlow's ops: `--error` chooses which. With `--debug` tfdbg opens on the op that failed."""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.examples.flags import flag_parser


def compute(flags: argparse.Namespace) -> None:
    """Multiply matrices, in one of three ways."""
    column = tf.placeholder(tf.float32, name="column")
    matrix = tf.constant([[0.0, 1.0, 2.0], [-4.0, -1.0, 0.0]], name="matrix")
    weights = tf.get_variable("weights", initializer=[[-2.0], [-3.0], [6.0]])
    of_column = tf.matmul(matrix, tf.transpose(column, name="row"), name="of_column")
    of_weights = tf.matmul(matrix, weights, name="of_weights")

    session = tf.Session()
    if flags.debug:
        session = tf_debug.LocalCLIDebugWrapperSession(session, ui_type=flags.ui_type, dump_root=flags.dump_root)
    if flags.error == "shape_mismatch":
        # The matrix has three columns, the transposed feed has one row.
        print(session.run(of_column, feed_dict={column: np.array([[0.0], [1.0], [2.0]])}))
    elif flags.error == "uninitialized_variable":
        # Nobody has run the initializer.
        print(session.run(of_weights))
    else:
        print(session.run(of_column, feed_dict={column: np.array([[0.0, 1.0, 2.0]])}))
    session.close()


def main() -> None:
    """Read the flags, then compute."""
    parser = flag_parser(__doc__)
    parser.add_argument(
        "--error",
        choices=("shape_mismatch", "uninitialized_variable", "no_error"),
        default="shape_mismatch",
        help="what goes wrong",
    )
    flags = parser.parse_args()
    tf.disable_eager_execution()
    compute(flags)


if __name__ == "__main__":
    main()
