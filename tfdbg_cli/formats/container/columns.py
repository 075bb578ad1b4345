"""Columns of a run with very many tensors, as arrays of numbers: names and orders without a look at every row."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np

from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.model.values import Array

NAMELESS = "(damaged)"  # what a node is called whose name cannot be read
_AT_ONCE = 4096  # texts looked up together
_SORTED = {"op_type": "op_type", "dtype": "dtype", "device": "device", "tensor_name": "node"}


class Columns:
    """The columns of run `run`, which has `count` tensors; each is read when it is first needed.

    Raises:
        DamagedIndexError: the database is damaged there, or a number is none.

    """

    def __init__(self, index: Index, run: int, count: int) -> None:
        self._index = index
        self._run = run
        self._count = count

    def numbers(self, column: str) -> Array:
        """The numbers in `column`, in the order of execution; -1 where there is none."""
        rows = self._index.rows(f"SELECT coalesce({column}, -1) FROM tensors WHERE run = ? ORDER BY place", self._run)
        try:
            return np.fromiter((number for (number,) in rows), np.int64, self._count)
        except (TypeError, ValueError, OverflowError) as error:
            raise DamagedIndexError(f"The index is damaged: {column} holds what is no number.") from error

    @cached_property
    def _nodes(self) -> Array:
        numbers = self.numbers("node")
        # As tfdbg writes them, texts are numbered from 1 on without gaps.
        first, last, count = self._index.one("SELECT min(id), max(id), count(*) FROM texts") or (None, None, 0)
        if (first, last) != (1, count) or numbers.min(initial=1) < 1 or numbers.max(initial=1) > count:
            raise DamagedIndexError("The index is damaged: names of nodes are not there.")
        return numbers

    @cached_property
    def _by_node(self) -> tuple[Array, Array]:
        """Places sorted by the number of their node, and those numbers."""
        order = np.argsort(self._nodes, kind="stable")
        return order, self._nodes[order]

    def places(self, node: str) -> Sequence[int]:
        """Where the tensors of `node` are."""
        order, numbers = self._by_node
        number = self._index.number(node)
        if number is None and node == NAMELESS:
            raise DamagedIndexError("The index is damaged: a name of a node is no text.")
        if number is None:
            return ()
        start, end = np.searchsorted(numbers, number), np.searchsorted(numbers, number, side="right")
        return _places(order[start:end])

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the nodes, each once, in the order of first execution."""
        _, first = np.unique(self._nodes, return_index=True)
        return _Names(self._index, self._nodes[np.sort(first)])

    def order(self, key: str, reverse: bool) -> Sequence[int]:
        """All places, sorted by `key` as `lt -s` calls it; equal ones in the order of execution."""
        if key == "timestamp":
            ranks = [np.arange(self._count)]
        elif key == "dump_size":
            ranks = [self.numbers("bytes")]
        elif key == "shape":
            ranks = [self._shape_ranks()]
        else:
            numbers = self._nodes if key == "tensor_name" else self.numbers(_SORTED[key])
            ranks = [self._text_ranks(numbers)]
            if key == "tensor_name":
                ranks.insert(0, self.numbers("slot"))
        return _places(np.lexsort([-rank if reverse else rank for rank in ranks]))

    def _text_ranks(self, numbers: Array) -> Array:
        """The place of each text in the order of all, for which SQLite has an index."""
        known = np.array([number for (number,) in self._index.rows("SELECT id FROM texts ORDER BY text")], np.int64)
        by_number = np.argsort(known)
        found = np.searchsorted(known[by_number], numbers)
        return by_number[np.minimum(found, len(known) - 1)]

    def _shape_ranks(self) -> Array:
        numbers = self.numbers("shape")
        distinct, of_each = np.unique(numbers, return_inverse=True)
        texts = self._index.texts({int(number) for number in distinct})

        def key(number: int) -> tuple[int, tuple[int, ...]]:
            text = texts.get(number)
            lengths = tuple(int(length) for length in text.split(",") if length.isdecimal()) if text else ()
            return (-1, ()) if text is None else (len(lengths), lengths)

        ranked = sorted(range(len(distinct)), key=lambda at: key(int(distinct[at])))
        ranks = np.empty(len(distinct), np.int64)
        ranks[ranked] = np.arange(len(distinct))
        return np.asarray(ranks[of_each.reshape(-1)])


class _Names(Sequence[str]):
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
            start = place - place % _AT_ONCE
            numbers = self._numbers[start : start + _AT_ONCE].tolist()
            texts = self._index.looked_up(numbers)
            self._page = place // _AT_ONCE, [texts.get(number, NAMELESS) for number in numbers]
        return self._page[1][place % _AT_ONCE]


def _places(found: Array) -> Sequence[int]:
    places = array("q")
    places.frombytes(found.astype(np.int64).tobytes())
    return places
