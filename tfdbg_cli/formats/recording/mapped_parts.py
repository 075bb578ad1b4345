"""Parts of an array that is mapped from a file: which bytes of the file they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfdbg_cli.formats.recording.stand_in import Part
from tfdbg_cli.model.values import Array

_NEAR = 1 << 16  # bytes; two parts with a smaller gap between them are fetched as one


def looked_at(whole: Array, content: Array, index: Any, bring: Callable[[Sequence[Part]], None]) -> Any:
    """`whole[index]`, after calling `bring` for the bytes that it accesses.

    `content` is the mapped memory (1-D uint8) of which `whole` is a view; parts are counted from its beginning. With
    integers and slices `index` only needs the bytes selected; any other index needs all of them.

    Raises:
        IndexError: `whole` has no such part.
        OSError: the bytes cannot be fetched.

    """
    first = content.__array_interface__["data"][0]
    words = index if isinstance(index, tuple) else (index,)
    if not any(word is Ellipsis for word in words):
        words = (*words, ...)  # a single element is shown, too, and not copied
    view = whole[words]
    if np.may_share_memory(view, content):
        bring([(start - first, end - first) for start, end in _joined(_stretches(view))])
    elif view.size:
        bring([(0, content.nbytes)])
    return whole[index]


def _stretches(view: Array) -> Iterator[Part]:
    """The memory ranges that `view` covers, as addresses, in no order; close ones may be one range."""
    if not view.size:
        return
    start = view.__array_interface__["data"][0]
    reaches = [(length - 1) * stride for length, stride in zip(view.shape, view.strides, strict=True)]
    low, high = start + sum(min(reach, 0) for reach in reaches), start + sum(max(reach, 0) for reach in reaches)
    widest = max(range(view.ndim), key=lambda axis: abs(reaches[axis]) and abs(view.strides[axis]), default=0)
    if high - low + view.itemsize <= view.nbytes or abs(view.strides[widest]) <= _NEAR:
        yield low, high + view.itemsize
        return
    for place in range(view.shape[widest]):
        yield from _stretches(view[(slice(None),) * widest + (slice(place, place + 1),)])


def _joined(parts: Iterator[Part]) -> Iterator[Part]:
    """The parts, sorted, those that are near to each other joined."""
    last: Part | None = None
    for start, end in sorted(parts):
        if last is None or start > last[1] + _NEAR:
            if last is not None:
                yield last
            last = start, end
        else:
            last = last[0], max(end, last[1])
    if last is not None:
        yield last
