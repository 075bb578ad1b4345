"""A loop inside a branch that works five times and divides by zero in its sixth turn.

It pairs images of two digits so that partners look alike (Sinkhorn's algorithm). The temperature is halved from turn
to turn. Once it is so low that an image suits no partner at all, its row is all 0, and so is the sum of the row.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from tfdbg_cli.examples.digits import load_digits


def balanced(costs: Any, temperature: Any, weights: Any) -> Any:
    """A pairing whose rows sum to 1: the more a pair costs, the smaller its share; `weights` are of the columns."""
    shares = tf.exp(-costs / temperature) * weights
    return shares / tf.reduce_sum(shares, axis=1, keepdims=True)


@tf.function  # type: ignore[untyped-decorator]
def pairing(left: Any, right: Any, turns: Any) -> Any:
    """How much of each image of `left` goes to each of `right`: all alike, or refined if there are turns to do so."""
    costs = tf.reduce_sum(tf.square(left[:, tf.newaxis] - right), axis=2)
    alike = tf.ones_like(costs) / tf.cast(tf.shape(right)[0], tf.float32)

    def refined() -> Any:
        def more(turn: Any, _temperature: Any, _weights: Any, _pairs: Any) -> Any:
            return turn < turns

        def cool(turn: Any, temperature: Any, weights: Any, _pairs: Any) -> tuple[Any, ...]:
            pairs = balanced(costs, temperature, weights)
            return turn + 1, temperature / 2.0, weights / tf.reduce_sum(pairs, axis=0), pairs

        start = (0, tf.constant(1.9), tf.ones([tf.shape(right)[0]]), alike)
        return tf.while_loop(more, cool, start, name="cool")[3]

    return tf.cond(turns > 0, refined, lambda: alike, name="refine")


def main() -> None:
    """Read the flags, then pair threes with eights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--turns", type=int, default=8, metavar="N", help="how often to halve the temperature")
    flags = parser.parse_args()
    training, _ = load_digits()
    threes, eights = (tf.constant(training.images[training.labels[:, digit] == 1][:100]) for digit in (3, 8))
    for turns in (0, flags.turns):
        pairs = pairing(threes, eights, tf.constant(turns))
        print(
            f"{turns} turns: the first image goes to its best partner with a share of {tf.reduce_max(pairs[0]):.2f}"
        )


if __name__ == "__main__":
    main()
