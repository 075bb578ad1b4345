"""Fibonacci numbers in a loop of the graph, until they no longer fit into their type.

With int32 a number turns negative (the filter `has_negative` finds it), with float32 it turns infinite after
some 186 numbers: `--dtype float32 --length 200`.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.examples.flags import flag_parser


def fibonacci(length: int, dtype: str, size: int) -> Any:
    """The number at position `length` (0, 1, 1, 2, …), `size` times over, by a while loop."""

    def more(i: Any, _last: Any, _current: Any) -> Any:
        return tf.less(i, length, name="more")

    def advance(i: Any, last: Any, current: Any) -> tuple[Any, Any, Any]:
        return i + 1, current, tf.add(last, current, name="next")

    start = (tf.constant(1), tf.zeros([size], dtype), tf.ones([size], dtype))
    return tf.while_loop(more, advance, start, name="fibonacci")[2]


def has_negative(_datum: Any, tensor: Any) -> bool:
    """A filter of one's own: whether a tensor holds a number below zero."""
    return isinstance(tensor, np.ndarray) and tensor.dtype.kind in "if" and bool((tensor < 0).any())


def show(flags: argparse.Namespace) -> None:
    """Compute and print the number."""
    number = fibonacci(flags.length, flags.dtype, flags.tensor_size)
    session = tf.Session()
    if flags.debug:
        wrapped = tf_debug.LocalCLIDebugWrapperSession(session, ui_type=flags.ui_type, dump_root=flags.dump_root)
        wrapped.add_tensor_filter("has_negative", has_negative)
        session = wrapped
    print(f"Fibonacci number at position {flags.length}: {session.run(number)}")
    session.close()


def main() -> None:
    """Read the flags, then compute."""
    parser = flag_parser(__doc__)
    parser.add_argument("--length", type=int, default=50, metavar="N", help="position of the number, from 1")
    parser.add_argument(
        "--dtype", choices=("int32", "int64", "float16", "float32"), default="int32", help="of the numbers"
    )
    parser.add_argument("--tensor_size", type=int, default=1, metavar="N", help="how many copies to compute")
    flags = parser.parse_args()
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()  # loops as TensorFlow 1 made them: Enter, Switch, Merge, NextIteration
    show(flags)


if __name__ == "__main__":
    main()
