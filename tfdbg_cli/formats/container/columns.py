"""Columns of a run with very many tensors, as arrays of numbers: facts and orders without a look at every row."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.formats.container.numbers import distinct, read_numbers
from tfdbg_cli.formats.container.texts import NAMELESS, NumberedTexts, shape_of
from tfdbg_cli.model.tensors import FactColumn
from tfdbg_cli.model.values import Array

_TEXTS = {"node": "node", "op_type": "op_type", "dtype": "dtype", "device": "device"}
_NUMBERS = {"nbytes": "bytes", "execution": "execution"}
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
        self._told: dict[str, FactColumn] = {}

    def numbers(self, column: str) -> Array:
        """The numbers in `column`, in the order of execution; -1 where there is none."""
        return read_numbers(self._index, column, self._run, self._count)

    def fact(self, name: str) -> FactColumn | None:
        """The fact `name` of every tensor; None for one that no column tells."""
        if name not in self._told:
            column = _TEXTS.get(name) or _NUMBERS.get(name) or ("shape" if name == "shape" else None)
            if column is None:
                return None
            found, which = distinct(self._nodes if column == "node" else self.numbers(column))
            self._told[name] = FactColumn(self._values(name, found), which.astype(np.int32))
        return self._told[name]

    def _values(self, name: str, found: Array) -> Sequence[Any]:
        if name == "node":
            return NumberedTexts(self._index, found)
        if name in _NUMBERS:
            return [None if number < 0 else number for number in found.tolist()]
        texts = self._index.texts(set(found.tolist()))
        if name == "shape":
            return [_shape(texts.get(number)) for number in found.tolist()]
        return [texts.get(number, "") for number in found.tolist()]

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
        return NumberedTexts(self._index, self._nodes[np.sort(first)])

    def order(self, key: str, reverse: bool) -> Sequence[int]:
        """All places, sorted by `key` as `lt -s` calls it; equal ones in the order of execution."""
        if key == "timestamp":
            ranks = [np.arange(self._count)]
        elif key == "dump_size":
            ranks = [self.numbers("bytes")]
        elif key == "tensor_name":
            ranks = [self.numbers("slot"), self._name_ranks[self._nodes]]
        elif key == "shape":
            ranks = [self._ranks("shape", _shape_key)]
        else:
            ranks = [self._ranks(_SORTED[key], lambda text: text)]
        return _places(np.lexsort([-rank if reverse else rank for rank in ranks]))

    @property
    def _name_ranks(self) -> Array:
        """By number the place of each text in the order of all, for which SQLite has an index."""
        known = self._index.listed("SELECT id AS number FROM texts ORDER BY text")
        ranks = np.empty(known.max(initial=0) + 1, np.int64)
        ranks[known] = np.arange(len(known))
        return ranks

    def _ranks(self, name: str, key: Callable[[Any], Any]) -> Array:
        """The place of each tensor's fact in the order of all."""
        column = self.fact(name)
        assert column is not None
        by_value = sorted(range(len(column.values)), key=lambda at: key(column.values[at]))
        ranks = np.empty(len(by_value), np.int64)
        kept = -1
        for rank, at in enumerate(by_value):
            kept = rank if not rank or column.values[at] != column.values[by_value[rank - 1]] else kept
            ranks[at] = kept
        return np.asarray(ranks[column.which])


def _shape(text: str | None) -> tuple[int, ...] | None:
    try:
        return None if text is None else shape_of(text)
    except ValueError:
        return None


def _shape_key(shape: tuple[int, ...] | None) -> tuple[int, tuple[int, ...]]:
    return (-1, ()) if shape is None else (len(shape), shape)


def _places(found: Array) -> Sequence[int]:
    places = array("q")
    places.frombytes(found.astype(np.int64).tobytes())
    return places
