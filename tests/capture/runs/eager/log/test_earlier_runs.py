"""What an earlier run computed, by the ids of tensors; and that a run is told of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import tfdbg_cli
from tfdbg_cli.api.process_debugger import process_debugger
from tfdbg_cli.capture.runs.eager.log.earlier_runs import EarlierRuns

pytestmark = pytest.mark.tf


@pytest.fixture
def _undebugged() -> Iterator[None]:
    yield
    tfdbg_cli.disable()
    process_debugger.cache_clear()


def test_the_run_is_named_that_gave_a_tensor() -> None:
    earlier = EarlierRuns()
    earlier.note(3, {10, 11})
    earlier.note(4, {12})
    assert earlier.behind({"state": 11, "x": 20, "mean": 12}) == {"state": 3, "mean": 4}


def test_old_runs_are_forgotten_and_the_last_one_is_not() -> None:
    earlier = EarlierRuns()
    for number in range(4):
        earlier.note(number, range(number * 90_000, (number + 1) * 90_000 - number))
    assert earlier.behind({"old": 180_000, "new": 270_000}) == {"new": 3}


X = np.arange(6, dtype=np.float32).reshape(3, 2)
TABLE = np.ones((9, 2), np.float32)


def _turns(*given: dict[int, np.ndarray], computed: Sequence[int] = ()) -> EarlierRuns:
    earlier = EarlierRuns()
    for number, arrays in enumerate(given):
        earlier.note(number, set(computed))
        earlier.note_turn("loop", set(arrays), arrays)
    return earlier


def test_what_each_turn_is_given_while_data_comes_anew_is_unchanged() -> None:
    labels = np.ones(3, np.float32)
    now, names = {1: TABLE, 3: X + 1, 7: labels}, {"table": 1, "x": 3, "labels": 7}
    assert _turns({1: TABLE, 2: X, 7: labels}).unchanged("loop", names, now) == ("table",)
    earlier = _turns({1: TABLE, 2: X}, {1: TABLE, 3: X + 1})  # before the new data of this turn are read
    assert earlier.unchanged("loop", {"table": 1}, {1: TABLE}) == ("table",)
    assert earlier.unchanged("another", names, now) == earlier.unchanged("loop", {"t": 8}, {8: TABLE}) == ()


@pytest.mark.parametrize(
    ("last", "computed"),
    [(X, ()), (X[0], ()), (X[:1] + 1, ()), (X + 1, (3,)), (np.ones((3, 2), np.int32), ()), (TABLE + 1, ())],
    ids=["equal", "a vector", "one row", "computed", "whole numbers", "as many rows"],
)
def test_where_nothing_tells_of_new_data_all_may_be_used_in_each_turn(
    last: np.ndarray, computed: Sequence[int]
) -> None:
    """Full batches are the same in each turn, beside constants that the turn makes, and the state of the last."""
    earlier = _turns({1: TABLE, 2: X}, computed=computed)
    assert earlier.unchanged("loop", {"table": 1, "x": 3}, {1: TABLE, 3: last}) == ()


def test_few_lengths_and_loops_are_remembered() -> None:
    earlier = _turns(*({1: TABLE, number: np.full((number, 2), float(number))} for number in range(2, 110)))
    assert earlier.unchanged("loop", {"table": 1}, {1: TABLE}) == ("table",)
    for number in range(1_000):
        earlier.note_turn(f"loop {number}", {1}, {1: TABLE})
    assert earlier.unchanged("loop", {"table": 1}, {1: TABLE}) == ()


@pytest.mark.usefixtures("_undebugged")
def test_a_loop_tells_what_it_is_given_in_each_turn(tmp_path: Path) -> None:
    weight = tf.Variable(np.ones((2, 2), np.float32))
    betas = tf.constant(np.array([0.1, 0.2, 0.3, 0.4], np.float32))
    batches = tf.data.Dataset.from_tensor_slices(np.arange(18, dtype=np.float32).reshape(3, 3, 2))
    with tfdbg_cli.record(tmp_path / "run", every=1):
        for at, batch in enumerate(batches):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(betas[at] * tf.matmul(batch, weight))
            weight.assign_sub(0.1 * tape.gradient(loss, weight))
    every = [run.call for run in tfdbg_cli.open_recording(tmp_path / "run").runs]
    calls = [call for call in every if call.loop.startswith(Path(__file__).name)]
    assert ["betas" in call.unchanged for call in calls] == [False, True, True]
    assert not any("batch" in call.unchanged for call in calls)


@pytest.mark.usefixtures("_undebugged")
def test_the_state_of_the_last_turn_is_told_from_a_batch(tmp_path: Path) -> None:
    """A blind test: what a loop had added up was "the input", to be checked before it is fed."""
    weight = tf.Variable(np.ones((3, 2), np.float32))
    state = tf.zeros([2, 2])
    batches = iter(tf.data.Dataset.from_tensor_slices(np.ones((4, 2, 3), np.float32)))
    batch = next(batches)
    with tfdbg_cli.record(tmp_path / "run", every=1):
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.matmul(batch, weight) + state)
            weight.assign_sub(0.1 * tape.gradient(loss, weight))
            state = tf.exp(tf.matmul(batch, weight))
            batch = next(batches)  # is of the turn before, and a batch all the same
    every = [run.call for run in tfdbg_cli.open_recording(tmp_path / "run").runs]
    # Threads that earlier tests began may have runs in this process, too.
    calls = [call for call in every if call.loop.startswith(Path(__file__).name)]
    first, second, _ = (call.number for call in calls)
    assert [call.carried for call in calls] == [{}, {"state": first}, {"state": second}]
    assert all("batch" in call.feeds for call in calls)
