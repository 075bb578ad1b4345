"""Fibonacci numbers in a loop of a tf.function, until they no longer fit into their type.

With float32 a number turns infinite after some 186 numbers; `--dtype int32` makes it negative (`--length 50`).
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

import tfdbg_cli as tf_debug
from tfdbg_cli.examples.fibonacci import has_negative
from tfdbg_cli.examples.flags import flag_parser


@tf.function  # type: ignore[untyped-decorator]
def fibonacci(length: Any, start: Any) -> Any:
    """The number at position `length` (0, 1, 1, 2, …) times `start`."""
    last, current = tf.zeros_like(start), start
    for _ in tf.range(1, length):
        last, current = current, last + current
    return current


def show(flags: argparse.Namespace) -> None:
    """Compute and print the number."""
    if flags.debug:
        tf_debug.add_tensor_filter("has_negative", has_negative)
        tf_debug.enable(flags.ui_type, flags.dump_root)
    number = fibonacci(tf.constant(flags.length), tf.ones([flags.tensor_size], flags.dtype))
    print(f"Fibonacci number at position {flags.length}: {number.numpy()}")


def main() -> None:
    """Read the flags, then compute."""
    parser = flag_parser(__doc__)
    parser.add_argument("--length", type=int, default=200, metavar="N", help="position of the number, from 1")
    parser.add_argument(
        "--dtype", choices=("int32", "int64", "float16", "float32"), default="float32", help="of the numbers"
    )
    parser.add_argument("--tensor_size", type=int, default=1, metavar="N", help="how many copies to compute")
    show(parser.parse_args())


if __name__ == "__main__":
    main()
