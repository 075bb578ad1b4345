"""The tensors of one run of a recording: descriptions by the page from the index, values when somebody looks."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tfdbg_cli.formats.container.index import DamagedIndexError, Index
from tfdbg_cli.formats.container.layout import DATA, INDEX
from tfdbg_cli.formats.container.stored import StoredElements
from tfdbg_cli.formats.container.texts import MOST, NAMELESS, shape_of, whole
from tfdbg_cli.formats.messages.tensor_proto import damaged
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import FactColumn, Tensor
from tfdbg_cli.model.values import Lack, NoValue, Value

if TYPE_CHECKING:
    from tfdbg_cli.formats.container.columns import Columns
    from tfdbg_cli.model.statistic_columns import StatisticColumns

_PAGE = 64  # rows read at once
_PAGES = 512  # that are kept
_AT_ONCE = 1 << 11  # of a run with so many rows or fewer, all are read at once
_COLUMNS = (
    "place, node, slot, device, execution, dtype, op_type, shape, bytes, time_us, lack,"
    " file, offset, stored, encoding"
)
# What no number is stands behind all numbers, and a look at an end of the key takes no time.
_COUNTED = """
SELECT (SELECT count(*) FROM tensors WHERE run = ?1 AND typeof(place) = 'integer'),
    (SELECT min(place) FROM tensors WHERE run = ?1), (SELECT max(place) FROM tensors WHERE run = ?1)
"""
_DAMAGED = damaged("The index is damaged where this tensor is described.")

Found = TypeVar("Found")
_Row: TypeAlias = tuple[Tensor, tuple[Any, ...]]  # why there is no value (or None), and where its elements lie


class _Page:
    """Some rows that were read at once, by their places. Each is described when it is asked for."""

    def __init__(self, rows: Sequence[tuple[Any, ...]], texts: dict[int, str]) -> None:
        self._rows = {row[0]: row for row in rows}
        self._texts = texts
        self._described: dict[int, _Row] = {}

    def get(self, place: int) -> _Row | None:
        """The row of `place`; None where there is none."""
        known = self._described.get(place)
        row = self._rows.get(place) if known is None else None
        if row is not None:
            known = self._described[place] = _described(row, self._texts)
        return known


_NO_PAGE = _Page((), {})


class RecordedTensors:
    """The `count` tensors of run `run` in `index`; `packed` are the contents with its columns, where it has some.

    Raises:
        DamagedIndexError: there are not so many, or they cannot be read.

    """

    def __init__(
        self, index: Index, elements: StoredElements, run: int, count: int, packed: Sequence[int] = ()
    ) -> None:
        self._index = index
        self._elements = elements
        self._run = run
        self._count = count
        self._packed = packed
        # Each place has its row, or nobody counts on the number.
        if index.one(_COUNTED, run) != ((count, 0, count - 1) if count else (0, None, None)):
            raise DamagedIndexError("The index is damaged: tensors of the run are missing.")
        self._page = _AT_ONCE if count <= _AT_ONCE else _PAGE
        self._columns = None if count <= _AT_ONCE else self._all_columns()
        self._pages: OrderedDict[int, _Page] = OrderedDict()
        if count <= _AT_ONCE:
            self._pages[0] = self._read(0)

    def _all_columns(self) -> Columns:
        from tfdbg_cli.formats.container.columns import Columns  # most runs have few tensors

        return Columns(self._index, self._run, self._count, self._packed)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Tensor:
        return self._row(index)[0]

    def value(self, index: int) -> Value:
        tensor, (lack, *place) = self._row(index)
        if isinstance(lack, NoValue):
            return lack
        return self._elements.value(tuple(place), tensor.dtype, tensor.shape)

    def part(self, index: int, key: Any) -> Any:
        tensor, (lack, *place) = self._row(index)
        if isinstance(lack, NoValue):
            return lack
        return self._elements.part(tuple(place), tensor.dtype, tensor.shape, key)

    def summary(self, index: int) -> Summary | None:
        """The statistics that were recorded in the place of a value."""
        if self._row(index)[1][0] is None:
            return None  # there is a value
        question = "SELECT * FROM summaries WHERE run = ? AND place = ?"
        try:
            found = self._index.one(question, self._run, range(self._count)[index])
        except DamagedIndexError:
            return None
        return None if found is None else _summary(found)

    def files(self) -> tuple[int, Sequence[Path]]:
        """The number of the run in the index, the index, and the files of elements. Raises OSError."""
        root = self._elements.root
        return self._run, [root / INDEX, *sorted((root / DATA).iterdir())]

    def finite(self, indices: Sequence[int]) -> Iterator[tuple[Sequence[int], float]]:
        """Those of `indices` whose tensors hold finite numbers only, some at a time, with the share that is done."""
        from tfdbg_cli.formats.container.finite_blocks import FiniteBlocks  # nobody asks most recordings

        try:
            columns = self._columns or self._all_columns()
            blocks = FiniteBlocks(self._elements.root, columns, self._elements.own_files)
        except DamagedIndexError:
            return  # one by one there may be more to see
        yield from blocks.finite(indices)

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        places = self._asked(lambda columns: columns.places(node))
        if places is None:
            places = self._places.get(node, ())
        return places if slot is None else [place for place in places if self._row(place)[0].slot == slot]

    def nodes(self) -> Sequence[str]:
        return self._nodes

    @cached_property
    def _nodes(self) -> Sequence[str]:
        names = self._asked(lambda columns: columns.names)
        return list(self._places) if names is None else names

    @cached_property
    def _places(self) -> dict[str, Sequence[int]]:
        """Where the tensors of a node are, in a run of few."""
        found: dict[str, array[int]] = {}
        for place in range(self._count):
            found.setdefault(self._row(place)[0].node, array("q")).append(place)
        return dict(found)

    def order(self, key: str, reverse: bool) -> Sequence[int] | None:
        """All places sorted by `key`; None in a run of few, whose rows are at hand."""
        return self._asked(lambda columns: columns.order(key, reverse))

    def column(self, fact: str) -> FactColumn | None:
        """The fact of every tensor; None in a run of few, whose rows are at hand."""
        return self._asked(lambda columns: columns.fact(fact))

    def statistics(self, names: Sequence[str]) -> StatisticColumns | None:
        """The statistics of every tensor; None in a run of few, whose rows are at hand, and where there are none."""
        return self._asked(lambda columns: columns.statistics(names))

    def statistics_in_steps(self, names: Sequence[str]) -> Iterator[float]:
        """Read those statistics, some at a time; gives the share that is done, nothing in a run of few."""
        try:
            yield from () if self._columns is None else self._columns.statistics_in_steps(names)
        except DamagedIndexError:
            self._columns = None  # as `_asked`

    def _asked(self, question: Callable[[Columns], Found]) -> Found | None:
        """What the columns of a run of many tell; None for a run of few, and where they are damaged."""
        if self._columns is None:
            return None
        try:
            return question(self._columns)
        except DamagedIndexError:
            self._columns = None  # row by row there may be more to see
            return None

    def _row(self, index: int) -> _Row:
        place = range(self._count)[index]
        number = place // self._page
        page = self._pages.get(number)
        if page is None:
            try:
                page = self._read(number)
            except DamagedIndexError:
                page = _NO_PAGE
            self._pages[number] = page
            if len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
        return page.get(place) or (Tensor(TensorName(NAMELESS, 0), "", 0, "", None, None, None, ""), (_DAMAGED,))

    def _read(self, page: int) -> _Page:
        question = f"SELECT {_COLUMNS} FROM tensors WHERE run = ? AND place >= ? AND place < ?"
        rows = self._index.rows(question, self._run, page * self._page, (page + 1) * self._page)
        numbers = set(chain.from_iterable((row[1], row[3], *row[5:8], row[10]) for row in rows))
        texts = self._index.texts({number for number in numbers if isinstance(number, int)})
        return _Page(rows, texts)


def _described(row: tuple[Any, ...], texts: dict[int, str]) -> _Row:
    _, node, slot, device, execution, dtype, op_type, shape, nbytes, time_us, lack, *place = row
    name = TensorName(texts.get(node, NAMELESS), slot if isinstance(slot, int) and 0 <= slot < MOST else 0)
    try:
        tensor = Tensor(
            name,
            texts[device],
            whole(execution),
            texts[dtype],
            None if shape is None else shape_of(texts[shape]),
            None if nbytes is None else whole(nbytes),
            None if time_us is None else whole(time_us),
            texts[op_type],
        )
        return tensor, (None if lack is None else _lack(texts[lack]), *place)
    except (ValueError, TypeError, KeyError):
        return Tensor(name, "", 0, "", None, None, None, ""), (_DAMAGED,)


def _lack(text: str) -> NoValue:
    lack, _, sentence = text.partition(": ")
    return NoValue(Lack(lack), sentence)


def _summary(row: tuple[Any, ...]) -> Summary | None:
    counts, moments, of_magnitude = row[2:9], row[9:13], row[13]
    if any(value is not None and not isinstance(value, float) for value in moments):
        return None
    try:
        size, nan, neg_inf, pos_inf, neg, zero, pos = map(whole, counts)
        low, high, mean, std = moments
        return Summary(
            size, nan, neg_inf, pos_inf, neg, zero, pos, low, high, mean, std, of_magnitude=bool(whole(of_magnitude))
        )
    except (ValueError, TypeError):
        return None
