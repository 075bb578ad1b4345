"""Constants of functions are known before a run: no run gives them back, and their values are there all the same."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from support.instrumented_calls import made, values

from tfdbg_cli.capture.functions.definition.shown_values import items_of
from tfdbg_cli.capture.functions.graph.scopes import scope_of

pytestmark = pytest.mark.tf

DTYPES = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.uint8, tf.int32, tf.int64, tf.complex64]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_a_constant_has_the_bits_that_the_runtime_gives(dtype) -> None:
    bits = np.random.RandomState(0).randint(0, 256, 6 * dtype.size, np.uint8)
    value = bits.view(dtype.as_numpy_dtype)

    @tf.function
    def f(x):
        return x, tf.constant(value, name="held"), tf.zeros([2, 3], dtype, name="all_zero")

    _, outcome = made(f, tf.constant(1.0))
    assert values(outcome, "held")[0].tobytes() == outcome.outputs[1].numpy().tobytes() == value.tobytes()
    assert values(outcome, "all_zero")[0].tobytes() == outcome.outputs[2].numpy().tobytes()
    assert values(outcome, "all_zero")[0].shape == (2, 3)


def test_none_is_given_back_and_equal_ones_are_one_tensor() -> None:
    @tf.function
    def f(x):
        for number in range(4):
            x = tf.sin(x) * tf.constant(2.0, name=f"two_{number}")
        return x

    concrete, outcome = made(f, tf.constant(1.0))
    given = [item.shown.op_type for item in items_of(scope_of(concrete)) if item.given_back]
    assert "Const" not in given
    held = [tensor for shown, tensor in outcome.captured.pairs() if shown.op_type == "Const"]
    assert len(held) == 4
    assert len(set(map(id, held))) == 1


def test_what_is_large_or_text_or_placed_is_given_back() -> None:
    @tf.function
    def f(x):
        with tf.device("CPU:0"):
            placed = tf.constant(1.0, name="placed")
        return x + placed, tf.ones([1 << 15], name="large"), tf.constant("text", name="text")

    concrete, outcome = made(f, tf.constant(1.0))
    given = {item.shown.name.node for item in items_of(scope_of(concrete)) if item.given_back}
    assert {"placed", "large", "text"} <= given
    assert values(outcome, "large")[0].shape == (1 << 15,)


def test_those_of_a_branch_are_shown_only_if_it_was_taken() -> None:
    @tf.function
    def f(x):
        return tf.cond(x > 0, lambda: x * tf.constant(3.0, name="three"), lambda: x * tf.constant(4.0, name="four"))

    _, outcome = made(f, tf.constant(1.0))
    names = {shown.name.node for shown, _ in outcome.captured.pairs() if shown.op_type == "Const"}
    assert "cond/true/three" in names
    assert "cond/false/four" not in names


def test_those_of_a_loop_are_there_in_every_turn() -> None:
    @tf.function
    def f(x):
        return tf.while_loop(lambda y: y < 10.0, lambda y: (y * tf.constant(2.0, name="two"),), (x,))

    _, outcome = made(f, tf.constant(1.0))
    assert [value.item() for value in values(outcome, "while/body/two")] == [2.0] * 4
