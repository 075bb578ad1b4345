"""Calls made again by what the graph optimizer made of the program's own function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.instrumented_calls import flat

from tfdbg_cli.capture.functions.exact.agreement import CallOutcome, agreement
from tfdbg_cli.capture.replay.function import ReadyFunction
from tfdbg_cli.capture.replay.optimized import OptimizedFunction
from tfdbg_cli.capture.replay.replayed import difference
from tfdbg_cli.capture.runs.function.replayed_capture import effect_of
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot, ReplayedCall
from tfdbg_cli.capture.tf import compat

pytestmark = pytest.mark.tf


class _Calls:
    """A function traced for some arguments. `known`: what the runtime makes of it is found before its first call."""

    def __init__(self, function: Any, *arguments: Any, known: bool = True) -> None:
        concrete = function.get_concrete_function(*arguments)
        self._call = lambda: function(*arguments)
        self.traced = TracedFunction(compat.atomic_of(concrete))
        self.inputs = [*flat(*arguments), *concrete.captured_inputs]
        if known:
            self.traced.ask_plain(self.inputs)

    def called(self) -> tuple[CallSnapshot, CallOutcome]:
        """One call, as it was held and what it did."""
        held = CallSnapshot.of(self.traced.snapshot_plan, self.inputs)
        outputs = tf.nest.flatten(self._call(), expand_composites=True)
        return held, CallOutcome(outputs, held.variables_now())

    @property
    def way(self) -> type:
        """How its calls are made again."""
        return type(self.traced.snapshot_plan.ready)


def _assert_agrees(held: CallSnapshot, did: CallOutcome, made: ReplayedCall) -> None:
    found = agreement(held.plan.root, did, effect_of(held, made))
    assert found.compared
    assert found.partings == ()


def _layers() -> tuple[Callable[..., Any], tf.Tensor]:
    """A step of two layers: fused products, folded constants, sums of gradients, momentum; an output comes twice."""
    weights = [tf.Variable(tf.random.stateless_normal([8, 8], (1, at)), name=f"weight_{at}") for at in range(2)]
    bias, slot = tf.Variable(tf.zeros([8]), name="bias"), tf.Variable(tf.zeros([8, 8]), name="slot")

    @tf.function
    def step(scale: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.nn.bias_add(x @ weights[0], bias))
            mean = tf.reduce_mean(hidden, 1, keepdims=True)
            loss = tf.reduce_mean(tf.square(tf.nn.softmax((hidden - mean) / 3.0 @ weights[1]) - 0.1)) * scale
        first, second, third = tape.gradient(loss, [*weights, bias])
        slot.assign(0.9 * slot + first * (0.1 * 0.5))
        weights[0].assign_sub(slot)
        weights[1].assign_sub(0.1 * second * tf.minimum(1.0, 0.5 / tf.norm(second)))
        bias.assign_sub(0.1 * third)
        return loss, x, loss, weights[0].read_value()

    return step, tf.constant(np.random.RandomState(1).randn(4, 8).astype(np.float32))


def test_a_call_made_again_by_the_optimized_function_gives_what_the_program_got() -> None:
    step, x = _layers()
    calls = _Calls(step, tf.constant(2.0), x)
    for _ in range(3):
        held, did = calls.called()
        _assert_agrees(held, did, held.made_again())
    assert calls.way is OptimizedFunction


def test_it_shows_what_a_function_that_is_compiled_anew_shows() -> None:
    """Names, order, types, and the numbers, which TensorFlow rounds otherwise when all of them are given back."""
    step, x = _layers()
    known, unknown = (_Calls(step, tf.constant(2.0), x, known=known) for known in (True, False))
    first, second = (
        CallSnapshot.of(calls.traced.snapshot_plan, calls.inputs).made_again().captured for calls in (known, unknown)
    )
    assert (known.way, unknown.way) == (OptimizedFunction, ReadyFunction)
    assert [shown for shown, _ in first.pairs()] == [shown for shown, _ in second.pairs()]
    for row in range(len(first)):
        one, other = first.value(row), second.value(row)
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7, err_msg=str(first[row].name))


def test_the_values_of_its_twins_are_those_of_a_function_that_gives_all() -> None:
    """Ints and small whole numbers are exact in every order, so that nothing may differ."""
    total = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        doubled = x * 2.0 * 1.0
        shaped = tf.reshape(doubled, [tf.size(x) // 2, 2])
        total.assign_add(tf.reduce_sum(shaped + doubled[0] + doubled[0]))
        return tf.transpose(tf.transpose(shaped)), total.read_value()

    calls = _Calls(step, tf.constant([1.0, 2.0, 3.0, 4.0]))
    held, did = calls.called()
    made = held.made_again()
    assert calls.way is OptimizedFunction
    _assert_agrees(held, did, made)
    assert held.undo() == ()
    kept = calls.traced.instrumented_with_updated.perform(calls.inputs)
    assert difference(kept.captured, made.replayed.tensors) == ""


def test_a_nearer_function_takes_its_place() -> None:
    step, x = _layers()
    calls = _Calls(step, tf.constant(2.0), x)
    held, did = calls.called()
    held.made_again()
    nearer = held.made_nearer()
    assert nearer is not None
    _assert_agrees(held, did, nearer)
    assert calls.way is ReadyFunction


def _prints() -> Any:
    total = tf.Variable(0.0)

    @tf.function
    def step(x: Any) -> Any:
        tf.print(x, output_stream="file:///dev/null")
        return total.assign_add(x).read_value()

    return step


def _branches() -> Any:
    return tf.function(lambda x: tf.cond(x > 0.0, lambda: tf.exp(x), lambda: x * 2.0))


def _draws() -> Any:
    return tf.function(lambda x: x + tf.random.uniform([], seed=1))


@pytest.mark.parametrize("make", [_prints, _branches, _draws])
def test_what_acts_outside_or_calls_is_compiled_anew(make: Callable[[], Any]) -> None:
    calls = _Calls(make(), tf.constant(1.0))
    held = CallSnapshot.of(calls.traced.snapshot_plan, calls.inputs)
    held.take_drawn(calls.traced.instrumented.perform(calls.inputs))
    assert held.made_again().replayed.error is None
    assert calls.way is ReadyFunction


def test_an_argument_that_is_not_needed_is_not_shown() -> None:
    function = tf.function(lambda x, unused: tf.exp(x) + 1.0)
    calls = _Calls(function, tf.constant(1.0), tf.constant(2.0))
    held, did = calls.called()
    made = held.made_again()
    _assert_agrees(held, did, made)
    assert "unused" not in {shown.name.node for shown, _ in made.captured.pairs()}


def test_after_the_first_call_the_program_is_not_compiled_once_more_for_it() -> None:
    step, x = _layers()
    step(tf.constant(2.0), x)
    calls = _Calls(step, tf.constant(2.0), x)
    held, did = calls.called()
    _assert_agrees(held, did, held.made_again())
    assert calls.way is ReadyFunction
