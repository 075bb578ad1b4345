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
