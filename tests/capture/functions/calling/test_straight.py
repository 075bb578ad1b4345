"""Values of calls without branches and loops: in the order of those that are put in order call by call."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.functions.calling.frame_reports import Unrolled
from tfdbg_cli.capture.functions.calling.instrumented import CallResult, Instrumented
from tfdbg_cli.capture.functions.calling.recomputed import Recomputed
from tfdbg_cli.capture.functions.calling.straight import Straight
from tfdbg_cli.capture.functions.graph.scopes import scope_of
from tfdbg_cli.capture.tf.reentrancy import INSIDE


def _chain(x: tf.Tensor) -> tf.Tensor:
    y = tf.identity(x) * 2.0 + 1.0
    return tf.reduce_sum(tf.nn.relu(tf.exp(-y) * tf.reshape(y, [2, 3])))


def _called() -> tuple[Instrumented, CallResult, Any]:
    concrete = tf.function(_chain).get_concrete_function(tf.TensorSpec([2, 3], tf.float32))
    instrumented = Instrumented(scope_of(concrete))
    x = tf.reshape(tf.range(6.0), [2, 3])
    with INSIDE:
        return instrumented, instrumented.perform([x]), x


def test_the_values_are_those_that_are_put_in_order_call_by_call() -> None:
    instrumented, outcome, x = _called()
    (rewritten,) = instrumented._idle
    unrolled = Unrolled({})
    unrolled.add_arguments([(outcome.captured.pairs()[0][0], x)])
    given = [tensor for shown, tensor in outcome.captured.pairs()[1:]]
    back = [tensor for item, tensor in zip(rewritten.exposed.items, given, strict=True) if item.given_back]
    unrolled.add(rewritten.exposed.items, back)
    assert [shown for shown, _ in unrolled.values] == [shown for shown, _ in outcome.captured.pairs()]
    assert any(isinstance(tensor, Recomputed) for tensor in given)
    for (_, one), (_, other) in zip(unrolled.values, outcome.captured.pairs(), strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(
            *(np.asarray(found.tensor() if isinstance(found, Recomputed) else found) for found in (one, other))
        )


def test_one_value_is_made_out_with_what_it_is_made_of_and_no_other() -> None:
    _, outcome, _ = _called()
    tensors = outcome.captured._tensors
    straight: Straight = tensors.straight  # type: ignore[attr-defined]
    last = max(straight.computed)
    assert isinstance(tensors[last], Recomputed)
    assert tensors[last] is tensors[last - len(tensors)]
    assert outcome.captured[last].shape == tuple(tensors[last].shape)


def test_the_order_is_found_once_for_all_calls() -> None:
    instrumented, first, x = _called()
    with INSIDE:
        second = instrumented.perform([x + 1.0])
    assert second.captured._executions is first.captured._executions
    assert second.captured.held_bytes == first.captured.held_bytes > 0


def test_a_store_of_a_call_tells_whether_anything_repeats() -> None:
    _, outcome, _ = _called()
    assert not outcome.captured.repeats()

    @tf.function
    def loops(x: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(3):
            x = x * 2.0
        return x

    concrete = loops.get_concrete_function(tf.TensorSpec([], tf.float32))
    with INSIDE:
        turned = Instrumented(scope_of(concrete)).perform([tf.constant(1.0)])
    assert turned.captured.repeats()
