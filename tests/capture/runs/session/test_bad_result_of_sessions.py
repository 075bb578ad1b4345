"""`bad_result` in sessions: what is fetched, what is applied, and variables after their update."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import Detach, OnBenign, RunUntil, Values

pytestmark = pytest.mark.tf
WATCH, KEEP = RunUntil("bad_result"), RunUntil("bad_result", values=Values.KEEP)


def _stopped(debugged, raw, fetches, feeds, decision=WATCH):
    session, front = debugged(raw, decision, Detach())
    result = session.run(fetches, feeds)
    return bool(front.ends), result, front


@pytest.mark.parametrize("decision", [WATCH, KEEP], ids=["replay", "keep"])
def test_only_what_is_fetched_counts(tf, debugged, graph, decision) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    logarithm = tf.log(x, name="logarithm")
    kept = tf.where(x > 0, logarithm, tf.zeros_like(x), name="kept")
    first, second = tf.split(logarithm, 2)
    with tf.Session() as raw:
        feeds = {x: [1.0, 0.0]}
        assert _stopped(debugged, raw, kept, feeds, decision)[0] is False
        hit, result, front = _stopped(debugged, raw, {"a": [kept, logarithm]}, feeds, decision)
        assert hit
        np.testing.assert_array_equal(result["a"][1], [0.0, -np.inf])
        (end,) = front.ends
        assert end.run.caught and end.hit.filter_name == "bad_result"
        assert _stopped(debugged, raw, first, feeds, decision)[0] is False, "of two outputs of one op the fine one"
        assert _stopped(debugged, raw, second, feeds, decision)[0] is True
        assert _stopped(debugged, raw, tf.argmax(logarithm), feeds, decision)[0] is False
        assert _stopped(debugged, raw, logarithm.op, feeds, decision)[0] is False, "nothing is given back"


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_variables_count_after_their_update(tf, debugged, graph, resource) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", initializer=np.array([1, 2], np.float32), use_resource=resource)
    loss = tf.reduce_sum(tf.where(x > 0, tf.log(x) * v, tf.zeros_like(x)))
    for optimizer in (tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer(0.1)):
        train = optimizer.minimize(loss)
        with tf.Session() as raw:
            raw.run(tf.global_variables_initializer())
            assert _stopped(debugged, raw, [loss, train], {x: [1.0, 2.0]})[0] is False
            hit, (given, _), _ = _stopped(debugged, raw, [loss, train], {x: [1.0, 0.0]})
            assert hit
            assert np.isfinite(given), "the gradient is what is bad: 0 · inf"
            assert not np.isfinite(raw.run(v)).all()


def test_an_update_that_is_not_run_applies_nothing(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", initializer=np.array([1, 2], np.float32), use_resource=True)
    gradient = tf.log(x)
    train = v.assign_sub(gradient, read_value=False)
    norm = tf.reduce_sum(tf.where(tf.is_finite(gradient), gradient, tf.zeros_like(x)))
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        assert _stopped(debugged, raw, norm, {x: [1.0, 0.0]})[0] is False
        assert _stopped(debugged, raw, [norm, train], {x: [1.0, 0.0]})[0] is True


def test_what_is_put_into_a_queue_counts_in_the_run_that_does_so(tf, debugged, graph) -> None:
    """A blind test: it stopped six runs later, at the run that took it out."""
    x = tf.placeholder(tf.float32, [2], name="x")
    queue = tf.FIFOQueue(8, ["float32"], shapes=[(2,)])
    put, taken = queue.enqueue([tf.log(x)]), queue.dequeue_many(1)
    keep = tf.cond(x[0] > 5, lambda: tf.group(queue.enqueue([-x])), tf.no_op)
    with tf.Session() as raw:
        for decision in (WATCH, RunUntil("has_inf_or_nan", benign=OnBenign.SKIP)):
            assert _stopped(debugged, raw, put, {x: [1.0, 2.0]}, decision)[0] is False
            assert _stopped(debugged, raw, put, {x: [1.0, 0.0]}, decision)[0] is True
        assert _stopped(debugged, raw, keep, {x: [6.0, np.inf]})[0] is True
        assert _stopped(debugged, raw, keep, {x: [1.0, np.inf]})[0] is False, "nothing was put there"
        np.testing.assert_array_equal(raw.run(taken), np.log([[1.0, 2.0]], dtype=np.float32))


def test_updates_in_functions_that_a_session_calls_count(tf, debugged, graph) -> None:
    import tensorflow as tf2

    v = tf.get_variable("v", initializer=np.array([1, 2], np.float32), use_resource=True)
    w = tf.get_variable("w", initializer=np.array([[1, 2]], np.float32), use_resource=True)

    @tf2.function(autograph=False)
    def step(x):
        gradient = tf2.math.log(x)
        v.assign_add(tf2.where(x > 0, gradient, 0.0))

        def keep_largest():
            tf2.raw_ops.ResourceScatterMax(resource=w.handle, indices=[0], updates=gradient[None])
            return x

        tf2.cond(x[0] > 0.0, keep_largest, lambda: x)
        return tf2.reduce_sum(tf2.where(x > 0, gradient, 0.0))

    x = tf.placeholder(tf.float32, [2], name="x")
    result = step(x)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        assert _stopped(debugged, raw, result, {x: [1.0, 2.0]})[0] is False
        assert _stopped(debugged, raw, result, {x: [0.0, -1.0]})[0] is False, "nothing bad is applied"
        assert _stopped(debugged, raw, result, {x: [2.0, -1.0]})[0] is True, "a NaN that the maximum drops"


def test_a_session_is_given_its_own_numbers(tf, debugged, graph) -> None:
    rng = np.random.default_rng(0)
    x = tf.placeholder(tf.float32, [8, 4], name="x")
    w = tf.get_variable("w", initializer=rng.normal(size=(4, 4)).astype("float32"), use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(tf.tanh(tf.matmul(x, w)), w))))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    batches = rng.normal(size=(6, 8, 4)).astype("float32")

    def course(wrap) -> list[bytes]:
        with tf.Session() as raw:
            raw.run(tf.global_variables_initializer())
            session = wrap(raw)
            return [np.asarray(session.run([loss, train], {x: batch})[0]).tobytes() for batch in batches] + [
                raw.run(w).tobytes()
            ]

    assert course(lambda raw: debugged(raw, WATCH)[0]) == course(lambda raw: raw)


@pytest.mark.parametrize("decision", [WATCH, KEEP], ids=["replay", "keep"])
@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_a_running_minimum_that_is_still_infinite_does_not_stop(tf, debugged, graph, resource, decision) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    best = tf.get_variable("best", initializer=np.float32(np.inf), use_resource=resource)
    kept = best.assign(tf.minimum(best, tf.where(x > 0, x, np.inf)), read_value=False)
    kept = getattr(kept, "op", kept)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        hit, _, front = _stopped(debugged, raw, kept, {x: -1.0}, decision)
        assert not hit
        assert any("best holds NaN or infinity that was there before the run" in text for text in front.said)
        assert _stopped(debugged, raw, kept, {x: 1.0}, decision)[0] is False
        assert raw.run(best) == 1.0
        assert _stopped(debugged, raw, kept, {x: -1.0}, decision)[0] is False
        raw.run(best.initializer)
        given = best * 1.0
        assert _stopped(debugged, raw, given, {}, decision)[0] is True, "the program is given it"
        spoil = best.assign(tf.log(x), read_value=False)
        assert _stopped(debugged, raw, getattr(spoil, "op", spoil), {x: -1.0}, decision)[0] is True


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_what_is_put_into_a_buffer_of_nan_is_the_origin_and_not_the_buffer(tf, debugged, graph, resource) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    buffer = tf.get_variable("buffer", initializer=np.full(4, np.nan, np.float32), use_resource=resource)
    put = tf.scatter_update(buffer, 1, tf.log(x))
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        assert _stopped(debugged, raw, put.op, {x: 2.0})[0] is False
        hit, _, front = _stopped(debugged, raw, put.op, {x: -2.0})
    assert hit
    search = OriginSearch(front.ends[0].run)
    first = search.first()
    assert first is not None and search.harmful(first)[0].op_type == "Log"
