"""Which batch of an iterator a tensor came with, where it came in an optional."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tf
DATA = np.arange(1, 21, dtype=np.float32).reshape(20, 1)


@pytest.fixture
def tf() -> Any:
    import tensorflow as tf

    return tf


@pytest.fixture
def iterator(tf) -> Iterator[Any]:
    """An iterator that is counted, over batches of four rows of two parts."""
    from tfdbg_cli.capture.runs.delivered import DELIVERIES

    undo = DELIVERIES.count()
    try:
        yield iter(tf.data.Dataset.from_tensor_slices((DATA, DATA)).batch(4))
    finally:
        undo()


def told(*tensors: Any) -> list[tuple[int, int | None, int] | None]:
    """The number of the batch, that of its first row, and the component, of each tensor."""
    from tfdbg_cli.capture.runs.delivered import DELIVERIES

    found = [DELIVERIES.of(tensor._id) for tensor in tensors]
    return [None if one is None else (one.step, one.first, one.component) for one in found]


def test_what_an_optional_holds_is_counted(iterator) -> None:
    next(iterator)
    assert told(*iterator.get_next_as_optional().get_value()) == [(1, 4, 0), (1, 4, 1)]
    assert told(*next(iterator)) == [(2, 8, 0), (2, 8, 1)]


def test_an_optional_that_is_opened_twice_counts_once(iterator) -> None:
    optional = iterator.get_next_as_optional()
    assert [told(optional.get_value()[1]) for _ in range(2)] == [[(0, 0, 1)]] * 2
    assert told(next(iterator)[0]) == [(1, 4, 0)]


def test_how_many_rows_came_before_is_not_known_behind_an_unopened_one(iterator) -> None:
    """A blind test: taking each batch for as long as the last one would tell rows that nobody counted."""
    first, second = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    assert told(second.get_value()[0], first.get_value()[0]) == [(1, None, 0), (0, 0, 0)]
    assert told(next(iterator)[0]) == [(2, None, 0)]


def test_an_optional_that_is_empty_ends_the_data(tf, iterator) -> None:
    for _ in range(5):
        next(iterator)
    last = iterator.get_next_as_optional()
    assert not last.has_value()
    with pytest.raises(tf.errors.InvalidArgumentError):
        last.get_value()


def test_what_no_counted_iterator_gave_is_not_told(tf, iterator) -> None:
    assert told(tf.experimental.Optional.from_value(tf.constant(1.0)).get_value()) == [None]

    @tf.function
    def asks() -> Any:
        return iterator.get_next_as_optional().get_value()

    asks()
    assert told(iterator.get_next_as_optional().get_value()[0]) == [None]


def test_parts_that_are_no_plain_tensors_count(tf, iterator) -> None:
    from tfdbg_cli.capture.runs.delivered import DELIVERIES

    ragged = tf.data.Dataset.from_tensor_slices((tf.ragged.constant([[1], [2, 3]]), DATA[:2])).batch(2)
    (_, plain) = next(iter(ragged))
    assert DELIVERIES.of(plain._id) is not None
    assert told(plain) == [(0, 0, 1)]
