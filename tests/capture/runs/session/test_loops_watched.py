"""Training through while loops of version 1 is watched by checks; nothing is dumped, or made again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.model.decision import Detach, RunUntil

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("loops_of_v1")]

WATCH = RunUntil("has_inf_or_nan")


@pytest.fixture
def made(monkeypatch) -> list[str]:
    """What was done with all values of a run, by the name of the function that did it."""
    from tfdbg_cli.capture.replay import session as replay_spec
    from tfdbg_cli.capture.runs.session import runtime_graph
    from tfdbg_cli.capture.state import run_snapshot as holding

    found: list[str] = []

    def told(module: Any, name: str) -> None:
        original = getattr(module, name)

        def instead(*arguments: Any, **keywords: Any) -> Any:
            found.append(name)
            return original(*arguments, **keywords)

        monkeypatch.setattr(module, name, instead)

    told(replay_spec, "dumped")
    told(holding, "replay_session")
    told(runtime_graph, "read_dump")
    return found


def recurrent(tf: Any, x: Any, *, resource: bool) -> Any:
    """A step of training of a recurrent net over the rows of `x`: its gradient keeps what it needs in stacks."""
    w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer(), use_resource=resource)
    rows = tf.TensorArray(tf.float32, 3).unstack(x)
    given = tf.TensorArray(tf.float32, 3)

    def turn(i: Any, h: Any, out: Any) -> list[Any]:
        h = tf.tanh(tf.matmul(tf.log(rows.read(i)) + h, w))
        return [i + 1, h, out.write(i, h)]

    _, _, out = tf.while_loop(lambda i, *_: i < 3, turn, [0, tf.zeros([1, 2]), given])
    loss = tf.reduce_mean(tf.square(out.stack()))
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)]


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_training_through_a_loop_is_checked_in_the_run(tf, debugged, graph, made, resource) -> None:
    x = tf.placeholder(tf.float32, [3, 1, 2], name="x")
    step = recurrent(tf, x, resource=resource)
    good = np.full((3, 1, 2), 1.5, np.float32)
    bad = good.copy()
    bad[1] = -1
    with tf.Session() as plain:
        plain.run(tf.global_variables_initializer())
        alone = [plain.run(step, {x: good})[0] for _ in range(3)]
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, WATCH, Detach())
        losses = [session.run(step, {x: good})[0] for _ in range(3)]
        assert made == []
        assert losses == alone
        session.run(step, {x: bad})
    (end,) = front.ends
    assert end.hit.runs == 4
    assert any(end.run.tensors[row].op_type == "Log" for row in range(len(end.run.tensors)))


def test_an_unordered_run_that_passes_is_not_made_again_with_its_values(tf, debugged, graph, made) -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    step = [v.read_value(), v.assign_add(1.0).op]
    with tf.Session() as raw:
        raw.run(v.initializer)
        session, _ = debugged(raw, WATCH, Detach())
        for _ in range(3):
            session.run(step)
    assert made == []
