"""Checks put onto what TensorFlow's graph optimizer made of the plain function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.analysis.layers.node_selection import NodeSelection
from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import has_inf, has_inf_or_nan
from tfdbg_cli.capture.controller import Action, Plan, WatchRequest
from tfdbg_cli.capture.functions.exact.proof import Proof
from tfdbg_cli.capture.runs.function.function_checks import watch_kind
from tfdbg_cli.capture.runs.function.measured_function import MeasuredFunction
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.tf import compat

pytestmark = pytest.mark.tf


def watched(concrete: Any, inputs: list[Any], tensor_filter: TensorFilter = has_inf_or_nan) -> Proof:
    """The function under a watch for `tensor_filter`."""
    kind = watch_kind(Plan(1, Action.CAPTURE, watched=WatchRequest("asked", tensor_filter)), "", "")
    assert kind is not None
    return TracedFunction(compat.atomic_of(concrete)).watched(kind).checked_only(inputs)


def _network(weight: Any) -> Any:
    """Two layers, normalized, and an update by their gradient: constants are folded, quotients become products."""
    scale = tf.Variable(tf.ones([8]))

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            mean, variance = tf.nn.moments(x @ weight, [-1], keepdims=True)
            hidden = tf.nn.gelu((x @ weight - mean) * tf.math.rsqrt(variance + 1e-5) * scale)
            loss = tf.reduce_mean(tf.square(tf.nn.softmax(hidden / 3.0) - 0.1))
        gradient, other = tape.gradient(loss, [weight, scale])
        weight.assign_sub(0.5 * (gradient * tf.minimum(1.0, 0.5 / tf.norm(gradient))) * 1.7)
        scale.assign_sub(0.1 * other)
        return loss

    return step


def _sums(weight: Any) -> Any:
    """Sums of many terms, which become one `AddN`."""

    @tf.function
    def step(x: Any) -> Any:
        a, b = tf.tanh(x @ weight), tf.sin(x)
        total = a * 3.0 + b * 3.0 + a * b + tf.exp(a) + tf.exp(b)
        weight.assign_add(0.1 * tf.matmul(x, total, transpose_a=True))
        return total

    return step


@pytest.mark.parametrize("build", [_network, _sums])
@pytest.mark.parametrize("tensor_filter", [has_inf_or_nan, has_inf])
def test_a_function_with_checks_gives_the_bits_of_the_plain_one(build: Any, tensor_filter: TensorFilter) -> None:
    start = tf.random.stateless_normal([8, 8], [1, 2])
    weight, x = tf.Variable(start), tf.random.stateless_normal([4, 8], [3, 4])
    step = build(weight)
    concrete = step.get_concrete_function(x)
    inputs = [x, *concrete.captured_inputs]
    before = [variable.numpy() for variable in concrete.variables]
    proof = watched(concrete, inputs, tensor_filter)
    assert proof.holds and proof.instrumented.grafted
    found = []
    for call in (lambda: step(x), lambda: proof.instrumented.perform(inputs).outputs[0]):
        for variable, value in zip(concrete.variables, before, strict=True):
            variable.assign(value)
        outputs = [call().numpy() for _ in range(10)]
        found.append([*outputs, *(variable.numpy() for variable in concrete.variables)])
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


def test_what_the_optimizer_no_more_computes_is_computed_for_the_check() -> None:
    """`(x * scale) * 1e-30` becomes `x * (scale * 1e-30)`, in which an op has the old name of another value."""

    @tf.function
    def step(x: Any, y: Any) -> Any:
        return tf.tanh((x * tf.minimum(y, 1e30)) * 1e-30)

    x, large = tf.constant([1.0, 2.0]), tf.constant([1e20, 2.0])
    concrete = step.get_concrete_function(x, x)
    proof = watched(concrete, [x, x], has_inf)
    assert proof.holds and proof.instrumented.grafted
    assert proof.instrumented.perform([x, x]).found is False
    outcome = proof.instrumented.perform([large, tf.constant([1e30, 1.0])])
    assert outcome.found is True
    assert np.array_equal(outcome.outputs[0], step(large, tf.constant([1e30, 1.0])))


@pytest.mark.parametrize("terms", [3, 5])
def test_what_is_made_of_a_merged_sum_is_looked_at(terms: int) -> None:
    """`a + (b + c)` becomes one sum of another name. The gradient of tf.nn.moments is one from 2.22 on."""

    @tf.function
    def step(x: Any, w: Any) -> Any:
        total = tf.sin(w)
        for number in range(1, terms):
            total = tf.exp(w * number) + total
        product = x @ total
        return tf.tanh(product * product)  # which becomes an op of another name, too

    x, w = tf.random.stateless_normal([4, 8], [1, 2]), tf.random.stateless_normal([8, 8], [3, 4])
    proof = watched(step.get_concrete_function(x, w), [x, w])
    assert proof.holds and proof.instrumented.grafted
    for given, found in ((w, False), (w * 200.0, True)):
        outcome = proof.instrumented.perform([x, given])
        np.testing.assert_array_equal(outcome.outputs[0], step(x, given))
        assert outcome.found is found


def measured(concrete: Any, inputs: list[Any]) -> tuple[MeasuredFunction, Proof]:
    """The function with the statistics of all its tensors, proven for `inputs`."""
    function = MeasuredFunction(TracedFunction(compat.atomic_of(concrete)), NodeSelection(none=True))
    return function, function.proof(inputs)


def test_a_product_that_the_optimizer_removed_has_no_statistics_and_the_rest_has() -> None:
    """To multiply once more would take as long as the program does."""

    @tf.function
    def step(x: Any) -> Any:
        return tf.tanh(tf.transpose(tf.matmul(tf.transpose(x), x)) * 2.0)  # the optimizer makes a product of its own

    x = tf.random.stateless_normal([16, 32], [3, 4])
    concrete = step.get_concrete_function(x)
    function, proof = measured(concrete, [x])
    assert proof.holds and proof.instrumented.grafted
    np.testing.assert_array_equal(proof.instrumented.perform([x]).outputs[0], step(x))
    tensors = function.layout.tensors
    assert [item.shown.name.node for item in tensors if item.lack is not None] == ["MatMul", "transpose_1", "mul"]
    assert {"transpose", "Tanh"}.issubset(item.shown.name.node for item in tensors if item.at >= 0)
    assert function.gaps.startswith("Of 3 of its ")


def _relu(x: Any, weight: Any) -> Any:
    """oneDNN and Grappler fuse the three: what a check is to look at between them takes another product."""
    return tf.nn.relu(tf.nn.bias_add(x @ weight, weight[0]))


@pytest.mark.parametrize("tensor_filter", [has_inf_or_nan, has_inf])
def test_a_fused_result_is_looked_at_as_it_is_given_back(tensor_filter: TensorFilter) -> None:
    weight, x = tf.Variable(tf.random.stateless_normal([8, 8], [1, 2])), tf.random.stateless_normal([4, 8], [3, 4])
    concrete = tf.function(lambda x: _relu(x, weight)).get_concrete_function(x)
    proof = watched(concrete, [x, *concrete.captured_inputs], tensor_filter)
    assert proof.holds and proof.instrumented.grafted == (tensor_filter is has_inf)
    for given, found in ((x, False), (tf.fill([4, 8], -3e38), True)):
        outcome = proof.instrumented.perform([given, *concrete.captured_inputs])
        np.testing.assert_array_equal(outcome.outputs[0], concrete(given))
        assert outcome.found == found


def _loop(x: Any, weight: Any) -> Any:
    for _ in tf.range(3):
        x = tf.tanh(x @ weight)
    return x


def _kept_call(x: Any, weight: Any) -> Any:
    """The runtime leaves a call of a function with two implementations as it is."""
    attributes = {"api_implements": "one_of_two", "api_preferred_device": "CPU"}
    return tf.function(lambda: tf.exp(x @ weight), experimental_attributes=attributes)()


@pytest.mark.parametrize("body", [_loop, _kept_call])
def test_what_cannot_be_put_on_is_optimized_with_the_function(body: Callable[[Any, Any], Any]) -> None:
    weight, x = tf.Variable(tf.eye(8)), tf.ones([4, 8])
    concrete = tf.function(lambda x: body(x, weight)).get_concrete_function(x)
    proof = watched(concrete, [x, *concrete.captured_inputs], has_inf)
    assert proof.holds == (body is _loop)
    assert not proof.instrumented.grafted


def _calling(weight: Any, scale: Any) -> Any:
    """A training step whose layers are functions, one of them called twice; the optimizer sees one function."""

    @tf.function
    def layer(x: Any) -> Any:
        scale.assign(scale * 0.99)
        return tf.nn.gelu(x @ weight) * scale / 3.0

    @tf.function
    def network(x: Any) -> Any:
        return tf.nn.softmax(layer(tf.tanh(layer(x)))) * 2.0 * 1.7

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(network(x) - 0.1))
        gradient = tape.gradient(loss, weight)
        weight.assign_sub(0.5 * (gradient * tf.minimum(1.0, 0.5 / tf.norm(gradient))) * 1.7)
        return loss

    return step


@pytest.mark.parametrize("asked", [has_inf_or_nan, has_inf, None])
def test_ops_in_functions_that_are_called_are_put_on_and_the_bits_stay(asked: TensorFilter | None) -> None:
    """A blind test: the runtime inlines the calls, and to optimize all anew took up to eight rounds."""
    start, x = tf.random.stateless_normal([8, 8], [1, 2]), tf.random.stateless_normal([4, 8], [3, 4])
    weight, scale = tf.Variable(start), tf.Variable(tf.ones([8]))
    step = _calling(weight, scale)
    concrete = step.get_concrete_function(x)
    inputs = [x, *concrete.captured_inputs]
    proof = measured(concrete, inputs)[1] if asked is None else watched(concrete, inputs, asked)
    assert proof.holds and proof.instrumented.grafted
    found = []
    for call in (lambda: step(x), lambda: proof.instrumented.perform(inputs).outputs[0]):
        weight.assign(start)
        scale.assign(tf.ones([8]))
        found.append([*(call().numpy() for _ in range(10)), weight.numpy(), scale.numpy()])
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


def test_a_function_that_draws_a_batch_and_calls_another_is_put_on() -> None:
    """As a step of Keras does. What is drawn is reported before the program reads it."""
    weight = tf.Variable(tf.random.stateless_normal([8, 8], [1, 2]))
    inner = tf.function(lambda x: tf.reduce_sum(tf.tanh(x @ weight) / 3.0))
    batches = tf.random.stateless_normal([3, 4, 8], [3, 4])
    iterator = iter(tf.data.Dataset.from_tensor_slices(batches))
    concrete = tf.function(lambda iterator: inner(next(iterator)) * 2.0).get_concrete_function(iterator)
    expected = [(inner(batch) * 2.0).numpy() for batch in batches]
    inputs = [iterator._iterator_resource, *concrete.captured_inputs]
    _, proof = measured(concrete, inputs)
    assert proof.holds and proof.instrumented.grafted
    for at, batch in enumerate(batches):
        outcome = proof.instrumented.perform(inputs)
        np.testing.assert_array_equal(outcome.outputs[0], expected[at])
        assert [value.numpy().tobytes() for value in outcome.early.values()] == [batch.numpy().tobytes()]
    assert isinstance(proof.instrumented.perform(inputs).error, tf.errors.OutOfRangeError)
