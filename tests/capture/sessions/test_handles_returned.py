"""Handles that calls give back are those of the variables that they were given: gradients read these by them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tensorflow as tf

from tfdbg_cli.capture.sessions.call_state import call_state
from tfdbg_cli.capture.sessions.holders import holder_of
from tfdbg_cli.capture.sessions.reach import reach

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("flow_of_v2")]
v1 = tf.compat.v1


def _variables(*names: str) -> list:
    return [v1.get_variable(name, initializer=[1.0, 2.0], use_resource=True) for name in names]


def _called(inside: Callable, *handles):
    """The handle that a function gives back which is given `handles`."""
    types = [tf.TensorSpec((), tf.resource)] * len(handles)
    function = tf.function(inside, autograph=False).get_concrete_function(*types)
    (given,) = tf.nest.flatten(function(*handles))
    assert given.op.type in ("PartitionedCall", "StatefulPartitionedCall")
    return given


def _through_a_call(v, w):
    return tf.identity(tf.function(lambda a, b: tf.identity(b), autograph=False)(w, v))


def _through_a_loop(v, w):
    turn = lambda i, a, b: (i + 1, a, b)  # noqa: E731
    return tf.while_loop(lambda i, *_: i < 3, turn, [0, w, v])[2]


def _through_a_branch(v, w):
    return tf.raw_ops.StatelessIf(
        cond=True, input=[w, v], Tout=[tf.resource], then_branch=_second(v), else_branch=_second(v)
    )[0]


def _second(handle):
    types = [tf.TensorSpec((), tf.resource)] * 2
    function = tf.function(lambda a, b: tf.identity(b), autograph=False).get_concrete_function(*types)
    function.add_to_graph(handle.graph)
    return function


def _turned(v, w):
    turn = lambda i, a, b: (i + 1, b, a)  # noqa: E731
    return tf.while_loop(lambda i, *_: i < 3, turn, [0, w, v])[2]


@pytest.mark.parametrize(
    ("inside", "found"), [(_through_a_call, "v"), (_through_a_loop, "v"), (_through_a_branch, "v"), (_turned, None)]
)
def test_the_variable_behind_a_handle_that_a_call_gives_back(inside, found) -> None:
    with tf.Graph().as_default():
        v, w = _variables("v", "w")
        holder = holder_of(_called(inside, v.handle, w.handle), ())
    assert (None if holder is None else holder.name) == found


def test_the_gradient_of_a_function_that_reads_a_variable_in_a_loop_can_be_made_again() -> None:
    with tf.Graph().as_default() as graph:
        (v,) = _variables("v")
        x = v1.placeholder(tf.float32, [2])

        @tf.function(autograph=False)
        def power(value):
            return tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, tf.math.log(a) * v), [0, value])[1]

        update = v1.train.GradientDescentOptimizer(0.1).minimize(power(x))
        reached = reach(graph, [update], ())
        state = call_state(reached.ops, reached.fetchable, frozenset())
    assert state.obstacle == ""
    assert [one.name for one in state.written] == ["v"]
    assert {op.type for op in state.written[0].writers} == {"ResourceApplyGradientDescent"}
