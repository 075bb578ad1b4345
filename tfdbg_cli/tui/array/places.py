"""Finding an element of an array step by step: the next one that passes a test, the next greatest or least one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tfdbg_cli.document.array_words import native
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.repeated_element import repeated_element
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.chunks import STEP, backward, forward, piece
from tfdbg_cli.tui.array.scan import Steps


def next_place(array: Array, start: int, test: Callable[[Array], Array], *, ahead: bool = True) -> Steps[int | None]:
    """The place in C order of the next element behind `start` (before it, unless `ahead`) that passes `test`.

    Past the end it goes on from the beginning, and comes back to `start` itself last. None: no element passes.
    """
    element = repeated_element(array)
    if element is not None:
        yield 0.0
        passes = bool(test(element.reshape(1))[0])
        return (start + (1 if ahead else -1)) % array.size if passes else None
    seen = 0
    for low, high in _round(array.size, start, ahead=ahead):
        found = np.flatnonzero(test(piece(array, low, high)))
        if found.size:
            return low + int(found[0 if ahead else -1])
        seen += high - low
        yield seen / array.size
    return None


def _round(size: int, start: int, *, ahead: bool) -> Iterator[tuple[int, int]]:
    if ahead:
        yield from forward(start + 1, size)
        yield from forward(0, start + 1)
    else:
        yield from backward(0, start)
        yield from backward(start, size)


def next_extreme(array: Array, start: int, *, highest: bool) -> Steps[int | None]:
    """The place of the next element behind `start` that is the greatest finite one of all (the least).

    Past the end it goes on from the beginning. None: no element is finite.
    """
    element = repeated_element(array)
    if element is not None:
        yield 0.0
        return (start + 1) % array.size if np.isfinite(native(element)) else None
    best: int | float | None = None
    first, behind = -1, -1  # the first such place, and the first of those behind `start`
    for low, high in forward(0, array.size):
        numbers = _ordered(piece(array, low, high))
        finite = np.isfinite(numbers) if is_inexact(numbers.dtype) else np.ones(numbers.shape, np.bool_)
        if finite.any():
            kept = numbers[finite]
            extreme = (kept.max() if highest else kept.min()).item()
            if best is None or (extreme > best if highest else extreme < best):
                best, first, behind = extreme, -1, -1
            if extreme == best:
                places = np.flatnonzero(finite & (numbers == extreme)) + low
                after = places[places > start]
                first = int(places[0]) if first < 0 else first
                behind = int(after[0]) if behind < 0 and after.size else behind
        yield high / max(array.size, STEP)
    return None if best is None else behind if behind >= 0 else first


def _ordered(numbers: Array) -> Array:
    """`numbers` in a type that has an order NumPy knows."""
    found = native(numbers)
    return found.astype(np.uint8) if found.dtype.kind == "b" else found
