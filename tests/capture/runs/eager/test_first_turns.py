"""The first turn of a loop, of which nobody knows yet whether it trains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import tfdbg_cli

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("undebugged")]


def _means(mean: tf.Variable) -> None:
    for turn in range(4):
        batch = tf.constant(np.full((8, 2), 1.0 + turn, np.float32))
        mean.assign(tf.reduce_mean(batch, axis=0))


def _sums(total: tf.Variable) -> None:
    for turn in range(4):
        batch = tf.constant(np.full((8, 2), 1.0 + turn, np.float32))
        total.assign_sub(tf.reduce_mean(batch, axis=0))


@pytest.mark.parametrize("program", [_means, _sums])
def test_one_that_only_writes_a_variable_is_a_run(tmp_path: Path, program: Callable[[tf.Variable], None]) -> None:
    """A blind test: of four turns that assign a mean three were recorded, and the numbers of all were one too low."""
    path = tmp_path / "runs"
    with tfdbg_cli.record(path, every=1):
        program(tf.Variable([1.0, 1.0]))
    titles = [run.call.title for run in tfdbg_cli.open_recording(path).runs]
    assert [title.split(" of ")[0] for title in titles] == [f"run #{number}: turn {number}" for number in range(1, 5)]


def test_one_that_sets_a_variable_back_before_functions_is_none(tmp_path: Path) -> None:
    weight, total = tf.Variable(1.0), tf.Variable(tf.fill([2000], 3.0))

    @tf.function
    def step(given: tf.Tensor) -> tf.Tensor:
        weight.assign_add(given)
        return weight * given

    def train() -> None:
        for turn in range(3):
            total.assign(tf.zeros([2000]))
            step(tf.constant(float(turn)))

    path = tmp_path / "runs"
    with tfdbg_cli.record(path, every=1):
        train()
    assert [run.call.kind.value for run in tfdbg_cli.open_recording(path).runs] == ["tf.function"] * 3
