"""The arrays that a method of Keras was given, and rows of batches looked for in them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np

from tfdbg_cli.analysis.batch.record_search import RecordSearch
from tfdbg_cli.capture.samples.named_parts import words_of_rows
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.records import FoundRecords, Record, SoughtRow
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Array

_FEW = 4  # arrays whose names are told
_BLOCK = 8 << 20  # bytes of one part that are compared at once
_GONE = "The program does not hold the arrays any more, from which the batch was made."
_BY_PLACE = "The record is told by its place: the arrays are not shuffled."
_BY_CONTENT = "The order was shuffled: the record is told by what the row holds, compared bit by bit in {}."
_CHANGED = (
    "What stands in the arrays there now is not what was in the batch: they were written to since, or prepared."
)
_NOT_COMPARED = "No part of the batch is as one of the arrays: nothing can be compared."
_CUT = "Not looked further than the first {} of {} within {:g} s: `input --seconds N` looks for longer."
_NONE = "No record of the arrays is as {}, bit by bit: they were written to since, or the batch was changed."


@dataclass(frozen=True)
class ArrayPart:
    """One of the arrays, held weakly: `of` gives it, or a larger one of the program's, of which it is a part.

    Its record i is number `first` + i * `step` of that; `count` are its records. `key` is what the program calls it.
    """

    of: weakref.ref[Any]
    key: str
    first: int
    step: int
    count: int

    @staticmethod
    def made(array: Any, whole: Any, key: str, first: int = 0) -> ArrayPart | None:
        """`array` as a part of `whole`, which may be itself; None where nobody can refer to it weakly.

        `first` is where it begins if it was copied out of `whole`, so that its memory does not tell.
        """
        first, step = (0, 1) if array is whole else _within(array, whole) or (first, 1)
        try:
            return ArrayPart(weakref.ref(whole), key, first, step, int(array.shape[0]))
        except (TypeError, ValueError, IndexError):
            return None

    def block(self, first: int, end: int) -> Array | None:
        """Its records from `first` to `end`; None where the program does not hold it any more."""
        whole = self.of()
        if whole is None:
            return None
        end = min(end, self.count)
        cut = slice(self.first + first * self.step, self.first + (end - 1) * self.step + 1, self.step)
        if type(whole) is compat.EagerTensor:
            return np.asarray(compat.host_array(whole))[cut]
        return np.asarray(whole.iloc[cut] if hasattr(whole, "iloc") else whole[cut])


def _within(array: Any, whole: Any) -> tuple[int, int] | None:
    """Which record of `whole` the first one of `array` is, and how far apart they are; None where it is no part."""
    if not (isinstance(array, np.ndarray) and isinstance(whole, np.ndarray)):
        return None
    if array.dtype != whole.dtype or array.shape[1:] != whole.shape[1:] or not whole.ndim or not len(array):
        return None
    if array.strides[1:] != whole.strides[1:] or whole.strides[0] <= 0 or array.strides[0] <= 0:
        return None
    start, stride = whole.__array_interface__["data"][0], whole.strides[0]
    first, beside = divmod(array.__array_interface__["data"][0] - start, stride)
    step, uneven = divmod(array.strides[0], stride)
    if beside or uneven or first < 0 or first + (len(array) - 1) * step >= len(whole):
        return None
    return first, step


def is_part(array: Any, whole: Any) -> bool:
    """Whether the array is `whole`, or some of its records, in the memory of `whole`."""
    return array is whole or _within(array, whole) is not None


class GivenArrays:
    """The arrays of a method of Keras, in the order in which their parts stand in a batch; None for an unknown one.

    `one_batch` says that they are a batch as they are.
    """

    quick = True

    def __init__(self, parts: Sequence[ArrayPart | None], *, one_batch: bool = False) -> None:
        self._parts = tuple(parts)
        self._one_batch = one_batch

    def find(self, rows: Sequence[SoughtRow], component: int, seconds: float) -> FoundRecords:
        """See `DataBehind`. By their place, where the order is known, else by what the rows hold."""
        there = {at: part for at, part in enumerate(self._parts) if part is not None and part.of() is not None}
        if not there:
            return FoundRecords(notes=(_GONE,))
        key = there.get(component, next(iter(there.values())))
        if self._one_batch:
            rows = [replace(row, number=row.row) for row in rows]
        if all(row.number is not None for row in rows):
            return self._by_place(rows, there, key)
        return self._by_content(rows, there, key, seconds)

    def _by_place(self, rows: Sequence[SoughtRow], there: Mapping[int, ArrayPart], key: ArrayPart) -> FoundRecords:
        found, changed = {}, False
        for row in rows:
            number = row.number or 0
            if number < key.count:
                found[row.row] = _record(key, number)
            block = {at: part.block(number, number + 1) for at, part in there.items() if at in row.parts}
            search = _search([row], {at: value for at, value in block.items() if value is not None})
            if search is not None:
                search.look({at: value for at, value in block.items() if value is not None}, np.array([number]))
                changed = changed or row.row not in search.matches
        return FoundRecords(found, (_BY_PLACE, *([_CHANGED] if changed else [])))

    def _by_content(
        self, rows: Sequence[SoughtRow], there: Mapping[int, ArrayPart], key: ArrayPart, seconds: float
    ) -> FoundRecords:
        count = min(part.count for part in there.values())
        search = _search(rows, {at: part.block(0, 1) for at, part in there.items()})
        if search is None:
            return FoundRecords(notes=(_NOT_COMPARED,))
        compared = {at: there[at] for at in search.parts}
        until, done = monotonic() + seconds, 0
        for first, block in _blocks(compared, count):
            done = first + len(next(iter(block.values())))
            search.look(block, np.arange(first, done))
            if monotonic() > until:
                break
        names = list(dict.fromkeys(part.key for part in compared.values()))
        notes = [_BY_CONTENT.format(" and ".join(names) if len(names) < _FEW else count_text(len(names), "array"))]
        if done < count:
            notes.append(_CUT.format(f"{done:,}", count_text(count, "record"), seconds))
        missing = [row.row for row in rows if row.row not in search.matches]
        if missing and done >= count:
            notes.append(_NONE.format(words_of_rows(missing)))
        found = {row: _record(key, match.first, match.alike) for row, match in search.matches.items()}
        return FoundRecords(found, tuple(notes))


def _record(key: ArrayPart, number: int, alike: int = 1) -> Record:
    return Record(key.first + number * key.step, key=key.key, alike=alike)


def _search(rows: Sequence[SoughtRow], first: Mapping[int, Array | None]) -> RecordSearch | None:
    """A search for the rows by those parts that the arrays have as the batch has them; None where there are none."""
    parts = [
        at
        for at, value in first.items()
        if value is not None
        and all(at in row.parts for row in rows)
        and value[:1].size == rows[0].parts[at].size
        and (value.dtype.kind in "OSU") == (rows[0].parts[at].dtype.kind in "OSU")
    ]
    return RecordSearch(rows, parts) if parts else None


def _blocks(parts: Mapping[int, ArrayPart], count: int) -> Iterator[tuple[int, dict[int, Array]]]:
    """The records in blocks: the number of the first one, and the parts. Ends where an array is there no more."""
    one = [part.block(0, 1) for part in parts.values()]
    size = max((block.nbytes for block in one if block is not None), default=1)
    length = max(1, min(1 << 16, _BLOCK // max(1, size)))
    for first in range(0, count, length):
        block = {at: part.block(first, min(first + length, count)) for at, part in parts.items()}
        there = {at: value for at, value in block.items() if value is not None}
        if len(there) < len(block):
            return
        yield first, there
