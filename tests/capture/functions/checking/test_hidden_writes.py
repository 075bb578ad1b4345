"""Variables written in functions that ops call for themselves: they are read behind what runs those functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from support.prompt import json_of, text_of

from tfdbg_cli.capture.functions.checking.updated_variables import updated_variables
from tfdbg_cli.capture.functions.graph.scopes import scope_of
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


def _data(rows: int = 6, zeros: tuple[int, ...] = ()) -> tf.data.Dataset:
    given = np.random.default_rng(0).normal(size=(rows, 3)).astype(np.float32)
    given[list(zeros)] = 0
    return tf.data.Dataset.from_tensor_slices(given).batch(2)


def _step(w: tf.Variable, batch: Any) -> None:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(batch / tf.norm(batch, axis=1, keepdims=True), w)))
    w.assign_sub(0.1 * tape.gradient(loss, w))


def _epoch(w: tf.Variable) -> Any:
    @tf.function
    def epoch(data: Any) -> None:
        for batch in data:
            _step(w, batch)

    return epoch


def _shown(function: Any, *given: Any) -> dict[str, tuple[str, ...]]:
    root = scope_of(function.get_concrete_function(*given))
    return {one.name.node: one.hidden_in for one in updated_variables(root)}


def test_a_variable_that_a_loop_over_a_dataset_writes() -> None:
    w, only_read = tf.Variable(tf.ones([3, 1]), name="w"), tf.Variable(2.0, name="only_read")

    @tf.function
    def epoch(data: Any) -> None:
        for batch in data:
            _step(w, batch * only_read)

    assert _shown(epoch, _data()) == {"w/after_update": ("ReduceDataset", "ScanDataset")}


def test_the_slots_of_an_optimizer_are_among_them() -> None:
    w = tf.Variable(tf.ones([3, 1]), name="w")
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build([w])

    @tf.function
    def epoch(data: Any) -> None:
        for batch in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.matmul(batch, w))
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    shown = _shown(epoch, _data())
    assert "w/after_update" in shown
    assert len(shown) == 4, "the weights, both moments and the counter"


def test_branches_and_loops_around_and_within() -> None:
    w = tf.Variable(tf.ones([3, 1]), name="w")

    @tf.function
    def inside(data: Any) -> None:
        for batch in data:
            if tf.reduce_sum(batch) > -100.0:
                for _ in tf.range(2):
                    _step(w, batch)

    @tf.function
    def epoch(data: Any, often: Any) -> None:
        for _ in tf.range(often):
            inside(data)
        w.assign(w * 2.0)

    shown = _shown(epoch, _data(), tf.constant(2))
    assert shown["w/after_update"] == ()
    (turn,) = set(shown) - {"w/after_update"}
    assert shown[turn][-1].endswith("ScanDataset")
    (whole,) = [one for one in updated_variables(scope_of(epoch.get_concrete_function(_data(), tf.constant(2)))) if
                one.name.node == "w/after_update"]  # fmt: skip
    assert any("while" in name for name in whole.waits), "behind the loop that has the other one"


def test_a_loop_over_a_dataset_in_a_loop_over_a_dataset() -> None:
    w = tf.Variable(tf.ones([3, 1]), name="w")

    @tf.function
    def epoch(many: Any) -> None:
        for data in many:
            for batch in data:
                _step(w, tf.reshape(batch, [1, 3]))

    many = tf.data.Dataset.from_tensor_slices(np.ones((6, 3), "f")).window(2)
    assert _shown(epoch, many)["w/after_update"][-1] == "ScanDataset"


def test_a_dataset_that_writes_nothing_shows_nothing() -> None:
    factor = tf.Variable(2.0)

    @tf.function
    def total(data: Any) -> Any:
        return data.map(lambda batch: batch * factor).reduce(0.0, lambda all_, batch: all_ + tf.reduce_sum(batch))

    assert _shown(total, _data()) == {}


def test_a_nan_in_a_turn_is_found_at_the_end_of_its_run(watched: Callable[..., Any]) -> None:
    w = tf.Variable(tf.ones([3, 1]), name="w")
    epoch = _epoch(w)
    with watched(RunUntil("bad_result")) as front:
        epoch(_data())
        assert not front.ends
        epoch(_data(zeros=(3,)))
    assert [end.run.call.number for end in front.ends] == [2]
    found = json_of("origin", front.ends[0])
    assert found["tensor"] == "w/after_update:0"
    assert found["cause"].startswith("Variable w was spoiled in a function that ScanDataset calls for itself")
    assert "for batch in data" in text_of("origin", front.ends[0])


def test_what_the_turns_give_is_told_as_theirs(watched: Callable[..., Any]) -> None:
    @tf.function
    def mean(data: Any) -> Any:
        total = 0.0
        for batch in data:
            total += tf.reduce_mean(batch / tf.norm(batch, axis=1, keepdims=True))
        return total

    with watched(RunUntil("has_inf_or_nan")) as front:
        mean(_data(zeros=(3,)))
    found = json_of("origin", front.ends[0])
    assert found["tensor"].startswith("ReduceDataset:")
    assert found["cause"].startswith("The turns of a loop over a dataset made it")


def test_a_variable_that_was_bad_before_is_told_as_a_variable(watched: Callable[..., Any]) -> None:
    w = tf.Variable(tf.fill([3, 1], float("nan")), name="w")
    with watched(RunUntil("has_inf_or_nan")) as front:
        _epoch(w)(_data())
    found = json_of("origin", front.ends[0])
    assert found["cause"].startswith("Variable w")
    assert not found["batch_rows"]


def test_the_program_keeps_its_numbers(watched: Callable[..., Any]) -> None:
    def trained() -> Any:
        w = tf.Variable(tf.ones([3, 1]), name="w")
        epoch = _epoch(w)
        for _ in range(3):
            epoch(_data())
        return w.numpy()

    plain = trained()
    with watched(RunUntil("bad_result")) as front:
        seen = trained()
    assert not front.ends
    np.testing.assert_array_equal(seen, plain)


def test_a_variable_that_is_read_behind_the_loop_was_spoiled_in_it(watched: Callable[..., Any]) -> None:
    w = tf.Variable(tf.ones([3, 1]), name="w")

    @tf.function
    def epoch(data: Any) -> Any:
        for batch in data:
            _step(w, batch)
        return tf.reduce_sum(w)

    with watched(RunUntil("bad_result")) as front:
        epoch(_data(zeros=(3,)))
    assert json_of("origin", front.ends[0])["cause"].startswith(
        "Variable w was spoiled in a function that ScanDataset"
    )
    assert "Since" not in text_of("origin", front.ends[0])


def test_where_the_rows_of_a_ragged_batch_begin_is_no_batch(watched: Callable[..., Any]) -> None:
    @tf.function
    def mean(ragged: Any, y: Any) -> Any:
        return tf.reduce_sum(ragged, 1) / tf.cast(ragged.row_lengths(), tf.float32) - y

    with watched(RunUntil("has_inf_or_nan")) as front:
        mean(tf.ragged.constant([[1.0, 2.0], [3.0], [], [4.0, 5.0, 6.0]]), tf.ones([4]))
    found = json_of("origin", front.ends[0])
    assert found["batch_rows"] == [2]
