"""Arrays that hold one element again and again without having it more than once, and the first places of a mask.

Such an array is what a few bytes on disk may claim: a constant of any shape.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfdbg_cli.model.values import Array

_CHUNK = 1 << 20  # elements looked at in one go


def repeated_element(array: Array) -> Array | None:
    """The element, 0-D, that all of `array` shares (as np.broadcast_to makes it); None for every other array."""
    if array.size < 2 or any(step for step, size in zip(array.strides, array.shape, strict=True) if size > 1):
        return None
    return array[(0,) * array.ndim + (...,)]


def of_each(test: Callable[[Array], Array], array: Array) -> Array:
    """`test`, which looks at each element by itself, of `array`; an element that is repeated is looked at once."""
    element = repeated_element(array)
    return np.asarray(test(array)) if element is None else np.broadcast_to(test(element), array.shape)


def first_places(mask: Array, most: int) -> Array:
    """The indices of the first `most` true elements of `mask`, one a row, as np.argwhere gives them all."""
    flat = mask.reshape(-1)
    found: list[Array] = []
    left = most
    for start in range(0, flat.size, _CHUNK):
        places = np.flatnonzero(flat[start : start + _CHUNK])[:left] + start
        found.append(places)
        left -= len(places)
        if not left:
            break
    places = np.concatenate(found) if found else np.zeros(0, np.intp)
    if not mask.ndim:
        return np.zeros((len(places), 0), np.intp)
    return np.stack(np.unravel_index(places, mask.shape), axis=1)
