"""Whether the result of an op certainly has the elements in which an element of its input shows.

A non-finite element implies that its own tensor is not empty: none of that tensor's dimensions is 0. What remains to
be known are the dimensions that come from elsewhere. An unknown length counts as possibly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Shape: TypeAlias = Sequence[int | None] | None


def positive(length: int | None) -> bool:
    """Whether a length is certainly not 0."""
    return length is not None and length > 0


def all_positive(shape: Shape) -> bool:
    """Whether a tensor of this shape is certainly not empty."""
    return shape is not None and all(map(positive, shape))


def broadcast_stays(own: Shape, other: Shape) -> bool:
    """Whether a tensor of shape `own` that is not empty gives something when broadcast with one of shape `other`."""
    if other is None:
        return False
    lengths = list(other)
    mine: list[int | None] = [None] * len(lengths) if own is None else list(own)
    for back in range(1, len(lengths) + 1):
        given = lengths[-back]
        if positive(given):
            continue
        kept = mine[-back] if back <= len(mine) else 1
        if kept is None or kept == 1:  # then the length of the other counts, which may be 0
            return False
    return True


def product_stays(own: Shape, other: Shape, free: int) -> bool:
    """Whether a matrix product shows every element of `own`: the dimension `free` of `other` must have a length.

    Leading dimensions are batches and broadcast.
    """
    if other is None or len(other) < 2 or not positive(other[free]):
        return False
    batches = other[:-2]
    return not batches or broadcast_stays(None if own is None else own[:-2], batches)


def einsum_stays(equation: str, position: int, given: Sequence[Shape]) -> bool:
    """Whether an Einsum shows every element of its operand at `position`."""
    if "." in equation or "->" not in equation:
        return False
    terms = equation.replace(" ", "").split("->")[0].split(",")
    mine = terms[position]
    if len(set(mine)) != len(mine):
        return False
    for at, term in enumerate(terms):
        if at == position:
            continue
        shape = given[at]
        if shape is None or len(shape) != len(term):
            return False
        if not all(label in mine or positive(length) for label, length in zip(term, shape, strict=True)):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a convolution or pooling that moves over two dimensions. Dilations are 1."""

    sizes: tuple[int | None, int | None]
    strides: tuple[int, int]
    same: bool  # padded so that no element is left out; else not padded
    first: int  # the axis of the first of the two dimensions

    @classmethod
    def of(cls, attribute: Callable[[str], Any], filter_shape: Shape) -> Window | None:
        """That of a convolution; None when it is of no plain kind."""
        if filter_shape is None or len(filter_shape) != 4:
            return None
        dilations = attribute("dilations")
        if dilations and any(step != 1 for step in dilations):
            return None
        return cls._made(attribute, (filter_shape[0], filter_shape[1]))

    @classmethod
    def of_pool(cls, attribute: Callable[[str], Any]) -> Window | None:
        """That of a pooling; None when it is of no plain kind."""
        first = _FIRST.get(_text(attribute("data_format")))
        sizes = attribute("ksize")
        if first is None or not sizes or len(sizes) != 4:
            return None
        others = [size for at, size in enumerate(sizes) if at not in (first, first + 1)]
        if any(size != 1 for size in others):
            return None
        return cls._made(attribute, (sizes[first], sizes[first + 1]))

    @classmethod
    def _made(cls, attribute: Callable[[str], Any], sizes: tuple[int | None, int | None]) -> Window | None:
        first = _FIRST.get(_text(attribute("data_format")))
        padding = _text(attribute("padding"))
        strides = attribute("strides")
        if first is None or padding not in ("SAME", "VALID") or not strides or len(strides) != 4:
            return None
        others = [step for at, step in enumerate(strides) if at not in (first, first + 1)]
        if any(step != 1 for step in others):
            return None
        return cls(sizes, (strides[first], strides[first + 1]), padding == "SAME", first)

    @property
    def inside(self) -> bool:
        """Whether every window meets the image: it does unless the image is smaller than nothing."""
        return all(map(positive, self.sizes))

    def channels(self, shape: Shape) -> int | None:
        """The number of channels in a tensor of `shape`, laid out as the image."""
        if shape is None or len(shape) != 4:
            return None
        return shape[1 if self.first == 2 else 3]

    def covers(self, image: Shape) -> bool:
        """Whether every element of an image of that shape is in a window."""
        lengths = (None, None) if image is None or len(image) != 4 else (image[self.first], image[self.first + 1])
        for size, step, length in zip(self.sizes, self.strides, lengths, strict=True):
            if size is None or size < step:
                return False
            if not self.same and (length is None or length < size or (length - size) % step):
                return False
        return True

    def taps_meet(self, image: Shape) -> bool:
        """Whether every element of the window lies on the image at least once."""
        if image is None or len(image) != 4:
            return False
        for size, step, length in zip(self.sizes, self.strides, image[self.first : self.first + 2], strict=True):
            if size is None or length is None or length < 1 or not _all_meet(size, step, length, self.same):
                return False
        return True


def _all_meet(size: int, step: int, length: int, same: bool) -> bool:
    if not same:
        return length >= size
    windows = -(-length // step)
    before = max((windows - 1) * step + size - length, 0) // 2
    met = {at - (number * step - before) for number in range(windows) for at in range(length)}
    return all(tap in met for tap in range(size))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


_FIRST = {"NHWC": 1, "NCHW": 2}
