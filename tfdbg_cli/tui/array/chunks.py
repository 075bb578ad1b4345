"""An array read a piece at a time, in C order, so that one of any size can be gone through beside the screen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfdbg_cli.model.values import Array

STEP = 1 << 16  # elements between two looks at the clock


def piece(array: Array, start: int, stop: int) -> Array:
    """The elements `start` to `stop` in C order, one after another. No more than these are copied."""
    if array.flags.c_contiguous:
        return array.reshape(-1)[start:stop]
    return np.asarray(array.flat[start:stop])


def forward(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """The range `start` to `stop` in pieces, from its beginning."""
    for low in range(start, stop, STEP):
        yield low, min(low + STEP, stop)


def backward(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """The range `start` to `stop` in pieces, from its end."""
    for high in range(stop, start, -STEP):
        yield max(start, high - STEP), high


def sampled(elements: Array, most: int) -> Array:
    """At most about `most` of the rows and columns of `elements`, at equal distances; all where they are fewer."""
    height, width = elements.shape
    if height * width <= most:
        return elements
    side = max(1, int(most**0.5))
    across = max(1, min(width, max(side, most // height)))
    down = max(1, min(height, most // across))
    return elements[:: -(-height // down), :: -(-width // across)]
