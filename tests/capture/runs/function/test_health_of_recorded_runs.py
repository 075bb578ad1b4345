"""Runs of functions in a recording whose variables begin with NaN and infinities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from support.prompt import Prompt

import tfdbg_cli
from tfdbg_cli.formats.opening import open_path

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("undebugged")]


def test_a_run_is_harmless_that_leaves_in_variables_what_was_there(tmp_path: Path) -> None:
    """As a watch judges it: a log to be filled in, the best loss so far, a memory of rows."""
    log, best = tf.Variable(tf.fill([3], np.nan)), tf.Variable(0.0)
    memory = tf.Variable(tf.fill([4, 2], -np.inf))

    @tf.function
    def step(at: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        loss = tf.reduce_mean(x * x)
        log[at].assign(loss)
        best.assign(tf.minimum(best, loss))
        memory.scatter_nd_update([[at]], [x])
        return loss

    @tf.function
    def begin() -> None:
        best.assign(np.inf)

    with tfdbg_cli.record(tmp_path / "runs", every=1):
        begin()
        for at, size in enumerate((1.0, 2.0, 1e30)):
            step(tf.constant(at), tf.fill([2], size))
    runs = Prompt(open_path(tmp_path / "runs")).data("runs")["runs"]
    assert [run["health"] for run in runs] == ["harmless", "harmless", "harmless", "bad"]
