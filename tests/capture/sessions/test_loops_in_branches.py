"""A loop in a branch that is not taken: TensorFlow's dumps would end the run, so none are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tfdbg_cli.capture.sessions.loops_in_branches import loop_in_branch
from tfdbg_cli.capture.sessions.reach import ancestors
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, Decision, GraphChoice, RunUntil

pytestmark = pytest.mark.tf

DECISIONS = {
    "watched": RunUntil("has_inf_or_nan"),
    "captured": DebugRun(),
    "runtime graph": DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME)),
}


@pytest.fixture(params=["loops_of_v1", "flow_of_v2"])
def either_version(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(request.param)


def _loop(tf: Any, turns: Any, draw: Callable[[], Any]) -> Any:
    return tf.while_loop(lambda i, _: i < turns, lambda i, r: (i + 1, r * draw()), [0, 1.0])[1]


@pytest.mark.usefixtures("either_version")
@pytest.mark.parametrize("decision", DECISIONS.values(), ids=DECISIONS)
@pytest.mark.parametrize("drawn", ["queue", "random"])
def test_a_branch_that_is_not_taken_does_no_harm(tf, debugged, graph, drawn: str, decision: Decision) -> None:
    queue = tf.queue.FIFOQueue(100, [tf.float32], [[]])
    taken = tf.placeholder(tf.bool, [])
    draw = queue.dequeue if drawn == "queue" else lambda: tf.random_uniform([], 2.0, 2.0)
    y = tf.cond(taken, lambda: _loop(tf, 3, draw), lambda: tf.constant(0.0))
    with tf.Session() as raw:
        raw.run(queue.enqueue_many([tf.fill([50], 2.0)]))
        session, _ = debugged(raw, *[decision] * 3, Continue())
        assert [session.run(y, {taken: one}) for one in (False, True, False)] == [0.0, 8.0, 0.0]


@pytest.mark.usefixtures("either_version")
def test_such_loops_are_told_from_others(tf, graph) -> None:
    taken = tf.placeholder(tf.bool, [])

    def found(end: Any) -> bool:
        return bool(loop_in_branch(graph, ancestors([end.op], ())))

    def branched(inside: Callable[[], Any]) -> Any:
        return tf.cond(taken, inside, lambda: tf.constant(0.0))

    assert not found(_loop(tf, 3, lambda: tf.constant(2.0)))
    assert not found(_loop(tf, 3, lambda: _loop(tf, 2, lambda: tf.constant(2.0)))), "a loop in a loop"
    assert not found(branched(lambda: tf.constant(2.0)))
    assert not found(_loop(tf, 3, lambda: branched(lambda: tf.constant(2.0)))), "a branch in a loop"
    assert found(branched(lambda: _loop(tf, 3, lambda: tf.constant(2.0))))
    assert found(_loop(tf, 3, lambda: branched(lambda: _loop(tf, 2, lambda: tf.constant(2.0)))))
    assert found(branched(lambda: branched(lambda: _loop(tf, 2, lambda: tf.constant(2.0)))))
    assert not found(branched(lambda: tf.constant(2.0)) + _loop(tf, 3, lambda: tf.constant(2.0))), "beside"


def test_a_function_that_holds_one_is_known(tf, tf2, graph, flow_of_v2) -> None:
    @tf2.function(autograph=False)
    def inner(taken: Any) -> Any:
        return tf.cond(taken, lambda: _loop(tf, 3, lambda: tf.constant(2.0)), lambda: tf.constant(0.0))

    @tf2.function(autograph=False)
    def looping(taken: Any) -> Any:
        return _loop(tf, 3, lambda: tf.constant(2.0)) + tf.cast(taken, tf.float32)

    taken = tf.placeholder(tf.bool, [])
    assert loop_in_branch(graph, ancestors([inner(taken).op], ()))
    assert not loop_in_branch(graph, ancestors([looping(taken).op], ()))
