"""Which ops of a call stand in the way of running a part of it again."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfdbg_cli.capture.sessions.reach import reach

pytestmark = pytest.mark.tf
v1 = tf.compat.v1


def _gathered():
    return tf.nn.embedding_lookup(v1.get_variable("rows", [4, 2], use_resource=True), [1, 2])


def _checked():
    return tf.debugging.check_numerics([1.0, 2.0], "a number")


def _stacked():
    array = tf.TensorArray(tf.float32, 2)
    return array.write(0, 1.0).write(1, 2.0).stack()


def _added():
    return v1.assign_add(v1.get_variable("sum", [], use_resource=True), 1.0)


def _drawn():
    return v1.random_uniform([2], seed=1)


@pytest.mark.parametrize(
    ("make", "again"), [(_gathered, True), (_checked, True), (_stacked, True), (_added, False), (_drawn, False)]
)
def test_what_may_run_again(make, again) -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        tensor = make()
        session.run(v1.global_variables_initializer())
        reached = reach(graph, [tensor.op], ())
        same = session.run(tensor).tobytes() == session.run(tensor).tobytes()
    assert (reached.stateful is None) == again == same


@pytest.fixture
def loops_of_v1():
    was = v1.control_flow_v2_enabled()
    v1.disable_control_flow_v2()
    yield
    if was:
        v1.enable_control_flow_v2()


@pytest.mark.parametrize("updated_before", [False, True])
@pytest.mark.parametrize("around", [False, True])
def test_all_that_is_called_fetchable_can_be_fetched(loops_of_v1, updated_before, around) -> None:
    """A blind test: behind an update with an output TensorFlow makes gradients of a loop that never leave it."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        w = v1.get_variable("w", [2], use_resource=False, initializer=v1.ones_initializer())
        m = v1.get_variable("m", [2], use_resource=False, initializer=v1.zeros_initializer(), trainable=False)

        def body(i, x):
            return i + 1, tf.tanh(v1.cond(i < 1, lambda: x * w, lambda: x + w) if around else x * w)

        y = v1.while_loop(lambda i, x: i < 3, body, [0, w * 2.0])[1]
        with v1.control_dependencies([v1.assign_add(m, w)] if updated_before else []):
            train = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        session.run(v1.global_variables_initializer())
        before = session.run(w).tolist()
        session.run([train, y])
        trained = session.run(w).tolist() != before
        reached = reach(graph, [train, y.op], ())
        for tensor in reached.fetchable.values():
            session.run(tensor)
    assert trained == (not updated_before)
    assert ("gradients/mul_grad/Mul:0" in reached.fetchable) == trained
