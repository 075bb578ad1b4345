"""Rows looked for in the arrays that Keras was given."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tf

from tfdbg_cli.capture.samples.given_arrays import ArrayPart, GivenArrays  # noqa: E402
from tfdbg_cli.model.records import FoundRecords, Record, SoughtRow  # noqa: E402


def part(array: Any, whole: Any = None, key: str = "x", first: int = 0) -> ArrayPart:
    made = ArrayPart.made(array, array if whole is None else whole, key, first)
    assert made is not None
    return made


def asked(arrays: GivenArrays, number: int | None = None, seconds: float = 5.0, **rows: Any) -> FoundRecords:
    """What is found for rows `r3=…`."""
    sought = [SoughtRow(int(row[1:]), {0: np.asarray(held)}, number) for row, held in rows.items()]
    return arrays.find(sought, 0, seconds)


def test_a_view_counts_in_the_whole_array() -> None:
    whole = np.arange(100.0).reshape(50, 2)
    arrays = GivenArrays([part(whole[10::3], whole)])
    assert asked(arrays, r4=whole[16]).records == {4: Record(16, key="x")}
    assert asked(arrays, r4=whole[17]).records == {}
    assert asked(arrays, number=2, r0=whole[16]).records == {0: Record(16, key="x")}


@pytest.mark.parametrize("view", [lambda x: x[:, :1], lambda x: x[::-1], lambda x: x.reshape(25, 4), lambda x: x + 0])
def test_what_is_no_part_of_it_is_counted_from_where_it_begins(view: Any) -> None:
    whole = np.arange(100.0).reshape(50, 2)
    assert part(view(whole), whole).first == 0 and part(view(whole), whole).step == 1


def test_arrays_are_not_kept_alive() -> None:
    array = np.arange(10.0)
    gone = weakref.ref(array)
    arrays = GivenArrays([part(array)])
    assert asked(arrays, r1=3.0).records[1].record == 3
    del array
    gc.collect()
    assert gone() is None
    assert "does not hold the arrays any more" in asked(arrays, r1=3.0).notes[0]


def test_what_was_written_since_is_told() -> None:
    array = np.arange(10.0)
    arrays = GivenArrays([part(array)])
    assert len(asked(arrays, number=4, r0=4.0).notes) == 1
    array[4] = 0
    assert "written to since" in asked(arrays, number=4, r0=4.0).notes[1]
    assert "No record of the arrays is as row 0" in asked(arrays, r0=4.0).notes[1]


def test_where_the_time_is_up_it_says_how_far_it_came() -> None:
    array = np.zeros((1 << 17, 1))
    notes = asked(GivenArrays([part(array)]), seconds=1e-9, r0=[1.0]).notes
    assert "the first 65,536 of 131,072 records" in notes[1] and len(notes) == 2


def test_tensors_and_tables_are_arrays_too() -> None:
    import tensorflow as tf

    assert asked(GivenArrays([part(tf.constant([[1.0], [2.0], [3.0]]))]), r0=[3.0]).records == {}  # gone at once
    tensor = tf.constant([[1.0], [2.0], [3.0]])
    assert asked(GivenArrays([part(tensor)]), r0=np.float32([3.0])).records[0].record == 2
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    assert asked(GivenArrays([part(table)]), r0=np.float32([2.0, 4.0])).records[0].record == 1


def test_a_batch_that_is_as_it_was_given() -> None:
    array = np.zeros((4, 1))
    found = GivenArrays([part(array)], one_batch=True).find([SoughtRow(2, {0: array[2]})], 0, 1.0)
    assert found.records == {2: Record(2, key="x")}


def test_nothing_to_compare() -> None:
    array = np.zeros((4, 3))
    assert "nothing can be compared" in asked(GivenArrays([part(array)]), r0=np.zeros(2)).notes[0]
