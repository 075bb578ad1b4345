"""A watch sees into loops and branches of version 1, and a hit has the values of each turn."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from support.first_bad import first_bad

from tfdbg_cli.capture.replay.any_replay import replay
from tfdbg_cli.capture.sessions.hidden_ops import hidden_ops
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice, RunUntil
from tfdbg_cli.model.graph import GraphKind

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("loops_of_v1")]

WATCH = RunUntil("has_inf_or_nan")


def finite(tf, value):
    """The logarithm of `value` where it is finite."""
    found = tf.log(value, name="log")
    return tf.where(tf.is_finite(found), found, tf.zeros_like(found))


class RandomFlow:
    """Ops in nested loops and branches, whose result is always finite."""

    def __init__(self, tf, seed: int) -> None:
        self.tf = tf
        self.chance = random.Random(seed)
        self.x = tf.placeholder(tf.float32, [2], name="x")
        self.result = finite(tf, self._some(self.x, 2))

    def _some(self, value, depth: int):
        for _ in range(self.chance.randint(2, 4)):
            value = self._one(value, depth)
        return value

    def _one(self, value, depth: int):
        tf = self.tf
        kind = self.chance.choice(["cond", "loop", *"abcdefg"] if depth else "abcdefg")
        if kind == "cond":
            limit = self.chance.uniform(-1, 2)
            return tf.cond(
                tf.reduce_sum(value) > limit,
                lambda: self._some(value, depth - 1),
                lambda: self._some(value, depth - 1),
            )
        if kind == "loop":
            turns = self.chance.randint(0, 3)
            step = lambda i, v: (i + 1, self._some(v, depth - 1))  # noqa: E731
            return tf.while_loop(lambda i, v: i < turns, step, [tf.constant(0), value])[1]
        simple = [
            lambda v: finite(tf, v), lambda v: finite(tf, v - 1.0), tf.tanh, tf.nn.relu, lambda v: v * 0.5,
            lambda v: tf.minimum(tf.exp(v * 20), 1.0), lambda v: tf.where(v > 0, tf.sqrt(v), tf.zeros_like(v)),
        ]  # fmt: skip
        return simple["abcdefg".index(kind)](value)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 8))])
def test_the_verdict_is_that_of_looking_at_every_turn(tf, debugged, graph, seed) -> None:
    flow = RandomFlow(tf, seed)
    chance = np.random.default_rng(seed)
    with tf.Session() as raw:
        for _ in range(4):
            feeds = {flow.x: chance.choice([0.5, 1.0, 2.0, 0.0, -1.0, 3.0], 2)}
            expected = []
            look = DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))
            session, front = debugged(
                raw,
                look,
                lambda end, found=expected: (
                    found.append(first_bad(replay(end.run.replayable.replay_spec()).tensors)),
                    Detach(),
                )[1],
            )
            plain = session.run(flow.result, feeds)
            session, front = debugged(raw, WATCH, Detach())
            np.testing.assert_array_equal(session.run(flow.result, feeds), plain)
            assert bool(front.ends) is (expected[0] is not None), expected
            if front.ends:
                run = front.ends[0].run
                assert run.graph.kind is GraphKind.PYTHON
                assert first_bad(run.tensors).name == expected[0].name
    assert hidden_ops(graph).count


def test_a_loop_that_is_in_a_branch_that_is_not_taken(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    loop = lambda: tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, finite(tf, v)), [0, x])[1]  # noqa: E731
    y = tf.cond(x > 0.5, loop, lambda: tf.constant(1.0))
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        assert session.run(y, {x: 0.0}) == 1.0
        assert front.ends == []
        assert session.run(y, {x: 1.0}) == 0.0
    run = front.ends[0].run
    (first, second) = [run.tensors.value(row) for row in run.tensors.named("cond/while/log")]
    assert (first, second) == (0.0, -np.inf)


def test_gradients_of_loops_are_looked_into(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    looped = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.sqrt(v)), [0, x])[1]
    (slope,) = tf.gradients(looped, [x])
    safe = tf.where(tf.is_finite(slope), slope, tf.zeros_like(slope))
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run(safe, {x: 4.0})
        session.run(safe, {x: 0.0})
    assert [end.hit.runs for end in front.ends] == [2]


def test_a_run_that_fails_leaves_nothing_for_the_next(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0.5, lambda: tf.constant(1.0), lambda: finite(tf, x))
    checked = tf.check_numerics(tf.where(x < 0, tf.log(x), y), "bad")
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, lambda end: WATCH, Detach())
        session.run(checked, {x: 2.0})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(checked, {x: -1.0})
        session.run(checked, {x: 2.0})
    assert [end.run.error is None for end in front.ends] == [False]


def test_threads_do_not_hear_of_the_runs_of_others(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.while_loop(lambda i, v: i < 20, lambda i, v: (i + 1, finite(tf, v) * 0 + x), [0, x])[1]
    hits = []
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, lambda end: hits.append(end.run.call.feeds["x:0"]) or WATCH)
        front.script += [lambda end: hits.append(end.run.call.feeds["x:0"]) or WATCH] * 200

        def work(value: float) -> None:
            for _ in range(15):
                session.run(y, {x: value})

        threads = [threading.Thread(target=work, args=(value,)) for value in (1.0, 2.0, 0.0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert hits
    assert set(hits) == {0.0}


def test_runners_are_looked_into(tf, debugged, graph) -> None:
    from tensorflow.core.protobuf import config_pb2

    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0.5, lambda: tf.constant(1.0), lambda: finite(tf, x), name="y")
    options = config_pb2.CallableOptions(feed=["x:0"], fetch=[y.name])
    with tf.Session() as raw:
        for make in (lambda s: s.make_callable(y, [x]), lambda s: s._make_callable_from_options(options)):
            session, front = debugged(raw, WATCH, Detach())
            runner = make(session)
            for value in (1.0, 0.0):
                assert np.asarray(runner(np.float32(value))).tolist() in (value, [value])
            assert [end.hit.runs for end in front.ends] == [2]
