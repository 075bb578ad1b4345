"""Columns of a run with very many tensors, as arrays of numbers: facts and orders without a look at every row."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.formats.container.numbers import distinct, read_numbers, statistics_in_steps
from tfdbg_cli.formats.container.packed_columns import FACTS, PLACES, PackedColumns
from tfdbg_cli.formats.container.texts import NAMELESS, NumberedTexts, shape_of
from tfdbg_cli.model.tensors import FactColumn
from tfdbg_cli.model.values import Array

if TYPE_CHECKING:
    from tfdbg_cli.model.statistic_columns import StatisticColumns

_TEXTS = {"node": "node", "op_type": "op_type", "dtype": "dtype", "device": "device"}
_NUMBERS = {"nbytes": "bytes", "execution": "execution"}
# The ends of the key are looked up, and the smallest index is counted.
_TEXTS_COUNTED = "SELECT (SELECT min(id) FROM texts), (SELECT max(id) FROM texts), (SELECT count(*) FROM texts)"
_SORTED = {"op_type": "op_type", "dtype": "dtype", "device": "device", "tensor_name": "node"}


class Columns:
    """The columns of run `run`, which has `count` tensors; each is read when it is first needed.

    `packed` are the contents that hold them, facts and places; without those they are read from the rows.

    Raises:
        DamagedIndexError: the database is damaged there, or a number is none.

    """

    def __init__(self, index: Index, run: int, count: int, packed: Sequence[int] = ()) -> None:
        self._index = index
        self._run = run
        self._count = count
        self._contents = packed
        self._told: dict[str, FactColumn] = {}
        self._statistics: dict[str, Array] = {}
        self._measured = np.zeros(count, bool)  # of which tensors those are

    def numbers(self, *columns: str) -> list[Array]:
        """The numbers in each of `columns`, in the order of execution; -1 where there is none."""
        if len(self._contents) == len((FACTS, PLACES)):
            try:
                return [(self._facts if column in FACTS else self._locations).numbers(column) for column in columns]
            except DamagedIndexError:
                self._contents = ()  # the rows say the same
        return read_numbers(self._index, columns, self._run, self._count)

    @cached_property
    def _facts(self) -> PackedColumns:
        return PackedColumns.read(self._index, self._contents[0], FACTS, self._count)

    @cached_property
    def _locations(self) -> PackedColumns:
        return PackedColumns.read(self._index, self._contents[1], PLACES, self._count, self._run)

    def fact(self, name: str) -> FactColumn | None:
        """The fact `name` of every tensor; None for one that no column tells."""
        column = _TEXTS.get(name) or _NUMBERS.get(name) or ("shape" if name == "shape" else None)
        if column is None:
            return None
        if name not in self._told:
            self.fact_of(name, self._nodes if column == "node" else self.numbers(column)[0])
        return self._told[name]

    def fact_of(self, name: str, numbers: Array) -> FactColumn:
        """The same, of a fact of which the `numbers` in its column were read already."""
        found, which = distinct(numbers)
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

    def statistics_in_steps(self, names: Sequence[str]) -> Iterator[float]:
        """Read the statistics called `names`, some at a time; gives the share that is done."""
        # Cached, since a query that is being typed asks for the same statistics at each key.
        missing = [] if self._valued.all() else [name for name in names if name not in self._statistics]
        if not missing:
            return
        found = {name: np.full(self._count, np.nan) for name in missing}
        for places, columns, share in statistics_in_steps(self._index, missing, self._run, self._count):
            self._measured[places] = True
            for column, numbers in zip(found.values(), columns, strict=True):
                column[places] = numbers
            yield share
        self._statistics |= found

    def statistics(self, names: Sequence[str]) -> StatisticColumns | None:
        """The statistics called `names` of every tensor; None where none were recorded, or all have values."""
        from tfdbg_cli.model.statistic_columns import StatisticColumns  # a first screen asks for none

        for _ in self.statistics_in_steps(names):
            pass
        valued = self._valued
        if not self._measured.any():
            return None
        return StatisticColumns({name: self._statistics[name] for name in names}, self._measured & ~valued, valued)

    @cached_property
    def _valued(self) -> Array:
        """Which tensors have a value."""
        return np.asarray(self.numbers("lack")[0] < 0)

    @cached_property
    def _nodes(self) -> Array:
        (numbers,) = self.numbers("node")
        # As tfdbg writes them, texts are numbered from 1 on without gaps.
        first, last, count = self._index.one(_TEXTS_COUNTED) or (None, None, 0)
        if (first, last) != (1, count) or numbers.min(initial=1) < 1 or numbers.max(initial=1) > count:
            raise DamagedIndexError("The index is damaged: names of nodes are not there.")
        return numbers

    @cached_property
    def _by_node(self) -> tuple[Array, Array]:
        """Places sorted by the number of their node, and those numbers."""
        if self._are_new:
            return np.arange(self._count), self._nodes
        order = np.argsort(self._nodes, kind="stable")
        return order, self._nodes[order]

    @cached_property
    def _are_new(self) -> bool:
        """Whether each tensor is of a node that none before it is of, as where nothing loops: names are in order."""
        return bool((np.diff(self._nodes) > 0).all())

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
        if self._are_new:
            return NumberedTexts(self._index, self._nodes)
        _, first = np.unique(self._nodes, return_index=True)
        return NumberedTexts(self._index, self._nodes[np.sort(first)])

    def order(self, key: str, reverse: bool) -> Sequence[int]:
        """All places, sorted by `key` as `lt -s` calls it; equal ones in the order of execution."""
        if key == "timestamp":
            ranks = [np.arange(self._count)]
        elif key == "dump_size":
            ranks = self.numbers("bytes")
        elif key == "tensor_name":
            ranks = [*self.numbers("slot"), self._name_ranks[self._nodes]]
        elif key == "shape":
            ranks = [self._ranks("shape", _shape_key)]
        else:
            ranks = [self._ranks(_SORTED[key], lambda text: text)]
        return _places(np.lexsort([-rank if reverse else rank for rank in ranks]))

    @property
    def _name_ranks(self) -> Array:
        """By number the place of each text in the order of all, for which SQLite has an index."""
        (known,) = self._index.listed("SELECT id FROM texts ORDER BY text", "id")
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
