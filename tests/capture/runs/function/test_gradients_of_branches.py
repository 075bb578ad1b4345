"""What a conditional hands to the branch with its gradients leads back to the branch that computed it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.prompt import json_of, text_of

from tfdbg_cli.model.decision import OnBenign, RunUntil

pytestmark = pytest.mark.tf

ROWS = np.ones((4, 2), np.float32)
ROWS[2] = 0.0


def root(x: Any) -> Any:
    return tf.reduce_sum(tf.sqrt(tf.reduce_sum(x * x, 1)))


def overflow(x: Any) -> Any:
    return tf.reduce_sum(tf.minimum(tf.exp(100.0 * (1.0 - x)), 10.0))


def masked(x: Any) -> Any:
    scores = tf.matmul(x, x, transpose_b=True) + tf.constant(np.triu(np.full((4, 4), -np.inf, np.float32), 1))
    return tf.reduce_sum(tf.nn.softmax(scores) ** 2)


def of_a_gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x**3)
    return root(tape.gradient(y, x))


def simple(x: Any, body: Callable[[Any], Any], yes: Any) -> Any:
    return tf.cond(yes, lambda: body(x), lambda: 0.0)


def nested(x: Any, body: Callable[[Any], Any], yes: Any) -> Any:
    return tf.cond(yes, lambda: tf.cond(yes, lambda: body(2.0 * x), lambda: 0.0), lambda: 1.0)


def case(x: Any, body: Callable[[Any], Any], yes: Any) -> Any:
    return tf.switch_case(tf.cast(yes, tf.int32), [lambda: 0.0, lambda: body(x), lambda: tf.reduce_sum(x**2)])


def in_loop(x: Any, body: Callable[[Any], Any], yes: Any) -> Any:
    def turn(i: Any, total: Any) -> Any:
        taken = tf.logical_and(yes, tf.equal(i % 2, 0))
        return i + 1, total + tf.cond(taken, lambda: body(x[i : i + 1]), lambda: 1.0)

    return tf.while_loop(lambda i, _: i < 4, turn, [0, 0.0])[1]


def loop_in_branch(x: Any, body: Callable[[Any], Any], yes: Any) -> Any:
    def turn(i: Any, total: Any) -> Any:
        return i + 1, total + body(x[i : i + 1])

    return tf.cond(yes, lambda: tf.while_loop(lambda i, _: i < 4, turn, [0, 0.0])[1], lambda: 0.0)


def in_function(x: Any, body: Callable[[Any], Any], yes: Any) -> Any:
    inner = tf.function(lambda x, yes: simple(x, body, yes))
    return tf.function(lambda x, yes: 2.0 * inner(x, yes))(x, yes)


WAYS = [simple, nested, case, in_loop, loop_in_branch, in_function]
Asked = Callable[..., list[Any]]


@pytest.fixture
def stops(watched: Callable[..., Any]) -> Asked:
    """Where the watch of a training step stops whose loss is what `way` makes of `body`."""

    def find(way: Callable[..., Any], body: Callable[..., Any]) -> list[Any]:
        w = tf.Variable(1.0)

        @tf.function
        def step(x: Any, yes: Any) -> None:
            with tf.GradientTape() as tape:
                loss = way(x * w, body, yes)
            w.assign_sub(tape.gradient(loss, w))

        with watched(RunUntil("has_inf_or_nan", benign=OnBenign.SKIP)) as front:
            step(tf.constant(ROWS), tf.constant(True))
        return front.ends

    return find


def line_of(function: Callable[..., Any], back: int = 1) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + len(lines) - back


@pytest.mark.parametrize("way", [one for one in WAYS if one is not loop_in_branch])
def test_a_slope_leads_back_to_the_row_and_the_forward_op(stops: Asked, way) -> None:
    """A blind test: the batch was said to come from …/OptionalGetValue:0, and the chain began there."""
    (end,) = stops(way, root)
    found = json_of("origin", end)
    assert found["op_type"] == "SqrtGrad" and "of a norm" in found["cause"]
    assert found["line"] == line_of(root) and found["forward"].endswith("/Sqrt")
    assert found["batch"]["source"] == "x:0" and found["batch_rows"] == [2]
    assert found["chain"][0]["tensor"] == "x:0"
    assert not any(op == "OptionalGetValue" for link in found["chain"] for op in link["ops"])
    assert "Row 2 of 4" in text_of("row", end)


def test_the_line_of_an_op_in_a_loop_in_a_branch(stops: Asked) -> None:
    """Its gradient is named after the loop and the branch without the functions that these call."""
    (end,) = stops(loop_in_branch, root)
    found = json_of("origin", end)
    assert found["op_type"] == "SqrtGrad" and found["line"] == line_of(root)
    assert found["forward"] == "cond/true/while/body/Sqrt" and found["batch_rows"] == [2]


@pytest.mark.parametrize("way", WAYS)
def test_what_overflows_in_the_branch_is_the_origin(stops: Asked, way) -> None:
    """A blind test: where a gradient alone is spoiled, the value that the branch handed over was the origin.

    Its cause was "Already in cond, which a function gave that the program called before".
    """
    (end,) = stops(way, overflow)
    found = json_of("origin", end)
    assert found["op_type"] == "Exp" and found["line"] == line_of(overflow)
    assert found["cause"].startswith("Overflow of Exp") and found["batch_rows"] == [2]
    assert found["batch"]["source"] == "x:0"


def test_a_gradient_of_a_gradient_is_of_its_op(stops: Asked) -> None:
    """A blind test: the line was that of tape.gradient, without a word of the op whose gradient it is."""
    (end,) = stops(simple, of_a_gradient)
    found = json_of("origin", end)
    assert found["op_type"] == "SqrtGrad" and found["line"] == line_of(root)
    assert found["forward"].endswith("/Sqrt") and found["batch_rows"] == [2]


@pytest.mark.parametrize("way", [simple, nested, case, in_function])
def test_a_mask_in_the_branch_is_no_harm(stops: Asked, way) -> None:
    assert not stops(way, masked)


def test_a_layer_of_keras(watched: Callable[..., Any]) -> None:
    class Penalty(tf.keras.layers.Layer):
        def call(self, inputs: Any, training: bool = False) -> Any:
            penalty = tf.cond(tf.reduce_sum(inputs) < 1e9, lambda: root(inputs), lambda: 0.0)
            self.add_loss(penalty)
            return inputs

    model = tf.keras.Sequential(
        [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(2, use_bias=False), Penalty(), tf.keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    with watched(RunUntil("has_inf_or_nan")) as front:
        model.fit(ROWS, np.ones((4, 1), np.float32), batch_size=4, verbose=0, shuffle=False)
    found = json_of("origin", front.ends[0])
    assert found["line"] == line_of(root) and found["forward"].endswith("/Sqrt")
    assert found["batch_rows"] == [2] and "Optional" not in " ".join(found["chain"][0]["ops"])
