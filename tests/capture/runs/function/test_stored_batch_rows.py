"""Rows of sparse and ragged batches are rows, and not places among the elements that are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.components import components
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


@pytest.fixture
def batch(watched: Callable[..., Any]) -> Callable[..., BatchRows]:
    """Calls a function under a watch: the rows behind the origin of its first bad run."""

    def find(function: Callable[..., Any], *given: Any) -> BatchRows:
        with watched(RunUntil("has_inf_or_nan")) as front:
            function(*given)
        assert front.ends, "nothing was bad"
        origin = OriginSearch(front.ends[0].run).first()
        assert origin is not None
        return origin.batch

    return find


@pytest.fixture
def parts(watched: Callable[..., Any]) -> Callable[..., list[tuple[str, list[Any]]]]:
    """Calls a function under a watch: what is held of the first bad row of its first bad run, part by part."""

    def find(function: Callable[..., Any], *given: Any) -> list[tuple[str, list[Any]]]:
        with watched(RunUntil("has_inf_or_nan")) as front:
            function(*given)
        run = front.ends[0].run
        origin = OriginSearch(run).first()
        assert origin is not None
        row = origin.batch.rows[0]
        return [(part.place(row), part.row(row).tolist()) for part in components(run, origin.batch)]

    return find


def _told(found: BatchRows) -> tuple[tuple[int, ...], int]:
    return found.rows, found.size


def test_elements_of_a_sparse_tensor(tf2, batch) -> None:
    @tf2.function
    def logs(s: Any) -> Any:
        return tf2.sparse.reduce_sum(tf2.sparse.map_values(tf2.math.log, s))

    found = batch(logs, tf2.sparse.from_dense([[1.0, 2.0], [0.0, -3.0]]))
    assert _told(found) == ((1,), 2) and found.source == "s_1:0"


def test_a_sparse_tensor_that_is_made_dense(tf2, batch) -> None:
    @tf2.function
    def logs(s: Any) -> Any:
        return tf2.math.log(tf2.sparse.to_dense(s, 1.0))

    assert _told(batch(logs, tf2.sparse.from_dense([[1.0, 2.0], [0.0, 1.0], [0.0, -3.0]]))) == ((2,), 3)


@pytest.mark.parametrize(
    ("rows", "bad", "size"),
    [
        ([[1.0, 2.0, 3.0], [-4.0]], (1,), 2),
        ([[[1.0, 2.0], [3.0]], [[-4.0]], []], (1,), 3),
        ([[], [], [-1.0]], (2,), 3),
    ],
)
def test_elements_of_a_ragged_tensor(tf2, batch, rows, bad, size) -> None:
    @tf2.function
    def logs(r: Any) -> Any:
        return tf2.reduce_sum(tf2.math.log(r))

    assert _told(batch(logs, tf2.ragged.constant(rows))) == (bad, size)


def test_a_ragged_tensor_that_is_made_dense(tf2, batch) -> None:
    @tf2.function
    def logs(r: Any) -> Any:
        return tf2.math.log(r.to_tensor(1.0))

    assert _told(batch(logs, tf2.ragged.constant([[1.0, 2.0], [3.0, 1.0, -4.0]]))) == ((1,), 2)


def test_an_empty_ragged_row(tf2, batch) -> None:
    @tf2.function
    def means(r: Any) -> Any:
        return tf2.reduce_mean(r, axis=1)

    assert _told(batch(means, tf2.ragged.constant([[1.0, 2.0, 3.0], [], [4.0]]))) == ((1,), 3)


def _lengths(tf2: Any, texts: Any) -> Any:
    """The mean length of the words of each row; NaN of an empty one."""
    lengths = tf2.ragged.map_flat_values(lambda words: tf2.cast(tf2.strings.length(words), tf2.float32), texts)
    return tf2.reduce_sum(lengths, axis=1) / tf2.cast(lengths.row_lengths(), tf2.float32)


def test_an_empty_ragged_row_of_texts(tf2, batch, parts) -> None:
    """A blind test: of texts, which are no numbers, the places where rows begin were taken for rows of a batch."""

    @tf2.function
    def means(r: Any, y: Any) -> Any:
        return _lengths(tf2, r) + y

    texts, labels = tf2.ragged.constant([["a", "bb", "c"], ["dd"], [], ["e"]]), tf2.constant([1.0, 2.0, 3.0, 4.0])
    assert _told(batch(means, texts, labels)) == ((2,), 4)
    assert parts(means, texts, labels) == [("r", []), ("y[2]", 3.0)]


def test_numbers_and_parts_of_texts(tf2, batch) -> None:
    @tf2.function
    def logs(t: Any) -> Any:
        words = tf2.strings.split(t)
        numbers = tf2.math.log(tf2.strings.to_number(words.flat_values))
        return tf2.reduce_sum(numbers) + tf2.reduce_sum(1 / tf2.cast(words.row_lengths(), tf2.float32))

    assert _told(batch(logs, tf2.constant(["1 2", "3", "4 0 5", "6"]))) == ((2,), 4)
    assert _told(batch(logs, tf2.constant(["1 2", "", "4 5", "6"]))) == ((1,), 4)


def test_a_ragged_batch_in_a_tuple_with_others(tf2, batch) -> None:
    @tf2.function
    def logs(batch: Any) -> Any:
        r, y = batch
        return tf2.reduce_sum(tf2.math.log(r)) + tf2.reduce_sum(y)

    found = batch(logs, (tf2.ragged.constant([[1.0, -2.0, 3.0], [4.0]]), tf2.ones([2, 3])))
    assert _told(found) == ((0,), 2)


def test_what_a_data_set_delivers(tf2, batch) -> None:
    def delivered(given: Any) -> Any:
        return iter(tf2.data.Dataset.from_tensor_slices(given).batch(3))

    @tf2.function
    def ragged(iterator: Any) -> Any:
        return tf2.reduce_sum(tf2.math.log(next(iterator)))

    @tf2.function
    def sparse(iterator: Any) -> Any:
        return tf2.sparse.reduce_sum(tf2.sparse.map_values(tf2.math.log, next(iterator)))

    rows = [[1.0, 2.0, 0.0], [-4.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    assert _told(batch(ragged, delivered(tf2.ragged.constant([[1.0, 2.0], [-4.0], [2.0]])))) == ((1,), 3)
    assert _told(batch(sparse, delivered(tf2.sparse.from_dense(rows)))) == ((1,), 3)


def test_a_vector_beside_numbers_that_are_no_splits_is_a_batch(tf2, batch) -> None:
    @tf2.function
    def logs(batch: Any) -> Any:
        x, labels = batch
        return tf2.math.log(x) * tf2.cast(labels, tf2.float32)

    x = tf2.constant([1.0, 2.0, -1.0, 1.0])
    assert _told(batch(logs, (x, tf2.constant([0, 1, 2, 3])))) == ((2,), 4)
    assert _told(batch(logs, (x, tf2.constant([0, 2, 1, 4])))) == ((2,), 4)


def test_through_functions_of_python(tf2, batch) -> None:
    @tf2.function
    def logs(x: Any) -> Any:
        return tf2.numpy_function(np.log, [x * 2.0], tf2.float32)

    @tf2.function
    def mixed(x: Any) -> Any:
        return tf2.numpy_function(lambda a: np.log(a.T), [x], tf2.float32)

    x = tf2.constant([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]])
    assert _told(batch(logs, x)) == ((1,), 3)
    assert batch(mixed, x).rows == ()


def test_behind_a_function_with_a_gradient_of_its_own(tf2, batch) -> None:
    @tf2.custom_gradient
    def both(x: Any, y: Any) -> Any:
        return (tf2.identity(x), y * 2.0), lambda *slopes: slopes

    @tf2.function
    def logs(x: Any, y: Any) -> Any:
        return tf2.math.log(both(x, y)[1])

    found = batch(logs, tf2.ones([3]), tf2.constant([1.0, -1.0, 1.0]))
    assert _told(found) == ((1,), 3) and found.source == "y:0"


@pytest.mark.parametrize("transform", ["cast", "fft", "matrix"])
def test_through_complex_numbers(tf2, batch, transform) -> None:
    @tf2.function
    def logs(x: Any) -> Any:
        z = tf2.cast(x, tf2.complex64)
        if transform == "fft":
            z = tf2.signal.fft(z)
        if transform == "matrix":
            z = tf2.linalg.diag_part(tf2.linalg.diag(z))
        return tf2.math.log(tf2.abs(tf2.math.conj(z)))

    assert _told(batch(logs, tf2.constant([[1.0, 2.0], [3.0, 3.5], [0.0, 0.0]]))) == ((2,), 3)


def test_the_row_of_a_ragged_batch_is_what_it_holds_and_what_came_with_it(tf2, parts) -> None:
    @tf2.function
    def logs(r: Any, y: Any) -> Any:
        return tf2.reduce_sum(tf2.math.log(r)) + tf2.reduce_sum(y)

    @tf2.function
    def means(r: Any) -> Any:
        return tf2.reduce_mean(r, axis=1)

    ragged = tf2.ragged.constant([[1.0, 2.0], [3.0, -4.0, 5.0]])
    assert parts(logs, ragged, tf2.constant([6.0, 7.0])) == [("r[2:5]", [3.0, -4.0, 5.0]), ("y[1]", 7.0)]
    assert parts(means, tf2.ragged.constant([[1.0], [], [4.0]])) == [("r", [])]


def test_the_row_of_a_sparse_batch_is_what_it_holds(tf2, parts) -> None:
    @tf2.function
    def logs(s: Any) -> Any:
        return tf2.sparse.reduce_sum(tf2.sparse.map_values(tf2.math.log, s))

    assert parts(logs, tf2.sparse.from_dense([[1.0, 2.0], [3.0, -3.0]])) == [("s_1[2:4]", [3.0, -3.0])]


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [], [4.0]], [[[1.0, 2.0], [3.0]], [[4.0], []], [[5.0]]]])
def test_an_empty_row_of_what_a_data_set_delivers(tf2, batch, rows) -> None:
    iterator = iter(tf2.data.Dataset.from_tensor_slices(tf2.ragged.constant(rows)).batch(3))

    @tf2.function
    def means(iterator: Any) -> Any:
        means = tf2.reduce_mean(next(iterator), axis=-1)
        return means.flat_values if isinstance(means, tf2.RaggedTensor) else means

    assert _told(batch(means, iterator)) == ((1,), 3)
