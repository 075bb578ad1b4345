"""Rows looked for among records by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.batch.record_search import RecordMatch, RecordSearch
from tfdbg_cli.model.records import SoughtRow


def found(rows: dict[int, dict[int, Any]], records: dict[int, Any], block: int = 3) -> dict[int, RecordMatch]:
    """What a search for `rows` finds in `records`, looked at in blocks of that many."""
    sought = [SoughtRow(row, {at: np.asarray(part) for at, part in parts.items()}) for row, parts in rows.items()]
    search = RecordSearch(sought, sorted(records))
    count = len(records[min(records)])
    for first in range(0, count, block):
        numbers = np.arange(first, min(first + block, count))
        search.look({at: part[first : first + block] for at, part in records.items()}, numbers)
    return search.matches


DATA = np.random.default_rng(1).random((20, 3))


def test_by_every_bit() -> None:
    data = DATA.copy()
    data[7, 1] = np.nan
    other = np.frombuffer(np.uint64(0x7FF8000000000001).tobytes(), np.float64)[0]
    near = data[7].copy()
    near[1] = other
    assert found({2: {0: data[7]}, 5: {0: data[19]}}, {0: data}) == {2: RecordMatch(7), 5: RecordMatch(19)}
    assert found({2: {0: near}}, {0: data}) == {}
    assert found({0: {0: [0.0]}}, {0: np.array([[-0.0], [0.0]])}) == {0: RecordMatch(1)}


def test_records_that_are_alike_are_counted_and_other_parts_tell_them_apart() -> None:
    data = np.zeros((10, 2))
    data[:, 1] = np.arange(10) // 4
    labels = np.arange(10)
    assert found({0: {0: data[5]}}, {0: data}) == {0: RecordMatch(4, 4)}
    assert found({0: {0: data[5], 1: labels[5]}}, {0: data, 1: labels}) == {0: RecordMatch(5)}
    assert found({0: {0: data[5]}, 3: {0: data[5]}}, {0: data}) == {0: RecordMatch(4, 4), 3: RecordMatch(4, 4)}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.bool_, np.complex64])
def test_what_was_cast(dtype: Any) -> None:
    data = np.arange(20.0).reshape(10, 2) % 7
    data[3] = 99.5
    assert found({1: {0: data[3].astype(dtype)}}, {0: data})[1].first == (1 if dtype is np.bool_ else 3)


def test_texts_of_every_kind() -> None:
    names = np.array(["anna", "böb", "", "anna"])
    for records in (names, names.astype(object), np.array([name.encode() for name in names], object)):
        rows: dict[int, dict[int, Any]] = {
            0: {0: np.array("böb".encode(), object)},
            1: {0: np.array(b"anna", object)},
        }
        assert found(rows, {0: records}) == {0: RecordMatch(1), 1: RecordMatch(0, 2)}


def test_other_sizes_are_not_compared() -> None:
    search = RecordSearch([SoughtRow(0, {0: np.zeros(3)})], [0])
    assert not search.fits({0: np.zeros((4, 2))}) and search.fits({0: np.zeros((4, 3, 1))})
    search.look({0: np.zeros((4, 2))}, np.arange(4))
    assert search.matches == {}
    assert found({0: {0: np.array(b"a", object)}}, {0: np.zeros(3)}) == {}


def test_empty_records_are_all_alike() -> None:
    assert found({0: {0: np.zeros(0)}}, {0: np.zeros((4, 0))}) == {0: RecordMatch(0, 4)}


def test_the_draws_of_the_program_go_on_as_they_were() -> None:
    np.random.seed(3)
    wanted = np.random.random(4)
    np.random.seed(3)
    found({0: {0: DATA[0]}}, {0: DATA})
    assert np.array_equal(np.random.random(4), wanted)
