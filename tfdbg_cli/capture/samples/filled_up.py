"""Records filled up to one width by a function behind `batch`, such as the texts of a batch by `to_tensor`.

How wide they come out goes by the longest record of their batch, which may be another one when they are run again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tfdbg_cli.model.values import Array


def refilled(
    numbers: Array, block: Mapping[int, Array], shapes: Mapping[int, tuple[int, ...]]
) -> tuple[Array, dict[int, Array]] | None:
    """A block of records, filled up with zeros, or with empty texts, to `shapes` instead; None where none has to be.

    Records that hold more than fits into those are left out. Zeros at the end count as filled in.

    Args:
        numbers: the numbers of the records.
        block: the parts, each of shape [records, …].
        shapes: the shape of each part of one record; parts that have another number of axes stay as they are.

    """
    other = {
        part
        for part, value in block.items()
        if part in shapes and value.ndim == len(shapes[part]) + 1 and value.shape[1:] != shapes[part]
    }
    if not other or any(len(value) != len(numbers) for value in block.values()):
        return None
    fits = np.ones(len(numbers), bool)
    found = dict(block)
    for part in other:
        found[part], fit = _in_shape(block[part], shapes[part])
        fits &= fit
    return numbers[fits], {part: value[fits] for part, value in found.items()}


def _in_shape(value: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """`value` [records, …] with each record in `shape`, and of which records [records] nothing was lost by that."""
    text = value.dtype == object
    inside = (slice(None), *(slice(min(old, new)) for old, new in zip(value.shape[1:], shape, strict=True)))
    found = np.full((len(value), *shape), b"" if text else 0, value.dtype)
    found[inside] = value[inside]
    outside = np.ones(value.shape, bool)
    outside[inside] = False
    held = value != b"" if text else _has_bits(value)
    return found, np.asarray(~(held & outside).reshape(len(value), -1).any(axis=1))


def _has_bits(value: Array) -> Array:
    """Of which elements some bit is set: -0.0 is no zero that was filled in."""
    raw = np.ascontiguousarray(value).view(np.uint8).reshape(*value.shape, value.dtype.itemsize)
    return np.asarray(raw.any(axis=-1))
