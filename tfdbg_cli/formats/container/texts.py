"""Texts of an index by their numbers, read some at a time, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, overload

from tfdbg_cli.formats.container.index import Index
from tfdbg_cli.model.tensors import Shape
from tfdbg_cli.model.values import Array

NAMELESS = "(damaged)"  # what a node is called whose name cannot be read
MOST = 1 << 62
_AT_ONCE = 4096  # texts looked up together
_MOST_SHAPES = 4096  # that are known; a run has few


class NumberedTexts(Sequence[str]):
    """The texts with `numbers`, looked up some at a time."""

    def __init__(self, index: Index, numbers: Array) -> None:
        self._index = index
        self._numbers = numbers
        self._page: tuple[int, list[str]] = (-1, [])

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...

    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        if place // _AT_ONCE != self._page[0]:
            self._page = place // _AT_ONCE, self._texts(place // _AT_ONCE)
        return self._page[1][place % _AT_ONCE]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(self._texts, range(-(-len(self) // _AT_ONCE))))

    def _texts(self, page: int) -> list[str]:
        numbers = self._numbers[page * _AT_ONCE : (page + 1) * _AT_ONCE].tolist()
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):  # as names are, where each was new
            texts = self._index.texts_from(numbers[0], len(numbers))
            if texts is not None:
                return texts
        found = self._index.looked_up(numbers)
        return [found.get(number, NAMELESS) for number in numbers]


def whole(value: Any) -> int:
    """`value`, which is a number that an index may hold.

    Raises:
        ValueError: it is none.

    """
    if not isinstance(value, int) or not 0 <= value < MOST:
        raise ValueError("a number out of range")
    return value


@lru_cache(_MOST_SHAPES)
def shape_of(text: str) -> Shape:
    """The shape that stands in the index as `text`.

    Raises:
        ValueError: it is none.

    """
    return tuple(whole(int(length)) for length in text.split(",")) if text else ()
