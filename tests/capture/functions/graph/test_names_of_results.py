"""Ops of a function that are called as results of it are, by which the definition gives them other names."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf

import tfdbg_cli
from tfdbg_cli.model.sources import user_frame

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("undebugged")]


def test_the_second_output_of_an_op_beside_a_second_op_of_its_type(tmp_path: Path) -> None:
    """A blind test: a recording ended with a KeyError, `split_1_0`, at the first step, and nothing was recorded."""
    weight = tf.Variable(1.0)

    @tf.function
    def halves(x: tf.Tensor) -> tf.Tensor:
        one, two = tf.split(x * weight, 2, 1)
        three, four = tf.split(one * two, 2, 1)
        return three + tf.exp(four)

    def train() -> None:
        for turn in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(halves(tf.ones([3, 4]) * (turn + 1.0)))
            weight.assign_sub(0.001 * tape.gradient(loss, weight))

    with tfdbg_cli.record(tmp_path / "runs", every=1):
        train()
    runs = tfdbg_cli.open_recording(tmp_path / "runs").runs
    assert len(runs) == 4  # of each turn the function and its gradient
    for run in runs:
        made_at = {
            frame.text.split(" = ")[0]
            for node in run.graph.by_name().values()
            if node.op_type == "Split" and (frame := user_frame(run.tracebacks[node.name])) is not None
        }
        assert made_at == {"one, two", "three, four"}
