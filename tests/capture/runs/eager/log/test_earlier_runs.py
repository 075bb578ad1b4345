"""What an earlier run computed, by the ids of tensors; and that a run is told of it."""

from __future__ import annotations

from collections.abc import Iterator
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
