"""Times of the ops inside called functions, loops and branches, each at the node and the line that made it."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.model.decision import ProfileRun

pytestmark = pytest.mark.tf


def test_ops_inside_calls_loops_and_branches_have_their_times_and_lines(watched: Any) -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return tf.sin(x)

    @tf.function
    def step(x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, tf.cond(tf.reduce_sum(y) > 0, lambda: inner(y) * 2.0, lambda: y - 1.0)

        y = inner(x)
        _, y = tf.while_loop(lambda i, y: i < 3, body, [0, y])
        return tf.reduce_sum(tf.exp(y))

    step(tf.ones([4]))
    with watched(ProfileRun()) as front:
        step(tf.ones([4]))
    run = front.ends[0].run
    assert run.profile is not None
    times = [time.node for time in run.profile.times if not time.node.startswith("_send_")]
    assert set(times) <= set(run.graph.names())
    assert (times.count("inner/Sin"), times.count("while/body/cond/true/inner/Sin")) == (1, 3)
    assert (times.count("Sum"), times.count("while/body/Sum")) == (1, 3)
    sine, total = made_at(run.tracebacks, "while/body/cond/true/inner/Sin"), made_at(run.tracebacks, "Sum")
    assert sine is not None and sine.function == "inner"
    assert total is not None and total.function == "step"


def test_the_device_of_what_the_program_has_put_on_none(watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.reduce_sum(tf.exp(x))

    told = []
    for devices in (tf.config.list_logical_devices("CPU")[:1], tf.config.list_logical_devices("CPU") * 2):
        monkeypatch.setattr(tf.config, "list_logical_devices", lambda found=devices: found)
        with watched(ProfileRun()) as front:
            step(tf.ones([4]))
        told.append({time.device for time in front.ends[0].run.profile.times if time.node == "Exp"})
    assert told == [{"/job:localhost/replica:0/task:0/device:CPU:0"}, {"/host:CPU"}]
