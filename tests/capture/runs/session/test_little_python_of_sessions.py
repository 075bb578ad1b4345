"""What a watched run of a session does beside the run itself, each time, is done once for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.capture.sessions.extended import call_checks
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


def test_what_a_run_is_asked_for_is_found_out_once(tf, debugged, graph, monkeypatch) -> None:
    x = tf.placeholder(tf.float32, [2])
    w = tf.get_variable("w", initializer=np.ones(2, np.float32), use_resource=True)
    loss = tf.reduce_sum(w * x)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    found: list[list[str]] = []
    original = call_checks.ends_among

    def ends_among(*arguments: Any) -> Any:
        ops = original(*arguments)
        found.append([op.name for op in ops])
        return ops

    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, RunUntil("bad_result"))
        for _ in range(5):  # the first ones are also made plainly
            session.run([loss, train], {x: [1.0, 1.0]})
        monkeypatch.setattr(call_checks, "ends_among", ends_among)
        for _ in range(2):
            session.run([loss, train], {x: [1.0, 1.0]})
        assert found == [[loss.op.name, train.name]] * 2
        session.run([loss, train], {x: [np.nan, 1.0]})
    (end,) = front.ends
    assert end.hit is not None
