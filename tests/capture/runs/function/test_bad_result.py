"""`bad_result` in functions: what comes out is asked, be it packed by Keras, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.libraries import library

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.watch.filters import bad_result
from tfdbg_cli.capture.controller import Action, Plan, WatchRequest
from tfdbg_cli.capture.runs.function.function_checks import watch_kind
from tfdbg_cli.capture.runs.function.traced_function import traced_function
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.decision import Detach, RunUntil, Values

pytestmark = pytest.mark.tf
WATCH, KEEP = RunUntil("bad_result"), RunUntil("bad_result", values=Values.KEEP)
_NAN = np.float32(np.nan)


def _stops(watched: Any, function: Any, *calls: Any, decision: RunUntil = WATCH) -> list[int]:
    """The numbers of the calls that were stopped at."""
    stopped = []
    for number, arguments in enumerate(calls):
        with watched(decision, Detach()) as front:
            function(*(tf.constant(argument) for argument in arguments))
        stopped += [number] * bool(front.ends)
    return stopped


@pytest.mark.parametrize("decision", [WATCH, KEEP], ids=["replay", "keep"])
def test_a_bad_result_stops_and_what_is_replaced_before_does_not(watched, decision) -> None:
    @tf.function
    def step(x: Any) -> Any:
        logarithm = tf.math.log(x)
        return {"sum": tf.reduce_sum(tf.where(x > 0, logarithm, 0.0)), "root": tf.sqrt(x + 1.0)}

    calls = [([1.0, 2.0],), ([0.0, 2.0],), ([-0.5, 2.0],), ([-3.0, 2.0],)]
    assert _stops(watched, step, *calls, decision=decision) == [3]
    with watched(decision, Detach()) as front:
        step(tf.constant([1.0, -2.0]))
    (end,) = front.ends
    assert end.run.caught and end.hit.filter_name == "bad_result"
    origin = OriginSearch(end.run).first()
    assert origin is not None and origin.op_type in ("Log", "Sqrt")


def test_what_is_put_into_a_queue_or_a_table_counts_where_that_is_done(watched) -> None:
    queue = tf.queue.FIFOQueue(20, [tf.float32], shapes=[(2,)])
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)

    @tf.function
    def put(x: Any) -> None:
        queue.enqueue(tf.math.log(x))

    @tf.function
    def put_large(x: Any) -> None:
        y = tf.math.log(x)
        if x[0] > 5.0:
            queue.enqueue(y)

    @tf.function
    def keep(x: Any) -> None:
        table.insert(tf.constant(1, tf.int64), tf.sqrt(x)[0])

    calls = [([1.0, 2.0],), ([-1.0, 2.0],), ([6.0, -1.0],)]
    assert _stops(watched, put, *calls) == [1, 2]
    assert _stops(watched, put_large, *calls) == [2]
    assert _stops(watched, keep, *calls) == [1]


def test_results_of_integers_and_strings_do_not_count(watched) -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.argmax(tf.math.log(x)), tf.strings.as_string(tf.math.log(x)), tf.cast(tf.math.log(x), tf.int32)

    assert _stops(watched, step, ([0.0, -1.0],)) == []


def test_a_constant_that_is_given_back_counts(watched) -> None:
    assert _stops(watched, tf.function(lambda x: tf.constant(np.inf) + 0.0 * x), ([1.0],)) == [0]


def test_a_gradient_that_the_variable_hides_counts(watched) -> None:
    """Ops like that of AdaMax keep a maximum, which may drop a NaN."""
    variable, kept = tf.Variable([1.0, 2.0]), tf.Variable([[3.0, 4.0]])

    @tf.function
    def step(x: Any) -> Any:
        gradient = tf.math.log(x)
        tf.raw_ops.ResourceScatterMax(resource=kept.handle, indices=[0], updates=gradient[None])
        variable.assign_add(tf.where(tf.math.is_finite(gradient), gradient, 0.0))
        return tf.constant(1.0)

    assert _stops(watched, step, ([1.0, 2.0],), ([1.0, -2.0],)) == [1]


@pytest.mark.parametrize("resource", ["assign", "assign_sub", "scatter", "adam"])
def test_a_variable_counts_after_its_update(watched, resource) -> None:
    variable, moments = tf.Variable([1.0, 2.0]), [tf.Variable([0.0, 0.0]) for _ in range(2)]

    @tf.function
    def step(x: Any) -> None:
        gradient = tf.math.log(x)
        if resource == "assign":
            variable.assign(gradient)
        elif resource == "assign_sub":
            variable.assign_sub(gradient)
        elif resource == "scatter":
            variable.scatter_update(tf.IndexedSlices(gradient[:1], [1]))
        else:
            handles = {"var": variable.handle, "m": moments[0].handle, "v": moments[1].handle}
            numbers = {"beta1_power": 0.9, "beta2_power": 0.999, "lr": 0.0, "beta1": 0.9, "beta2": 0.999}
            tf.raw_ops.ResourceApplyAdam(**handles, **numbers, epsilon=1e-7, grad=gradient)

    assert _stops(watched, step, ([1.0, 2.0],)) == []
    for one in (variable, *moments):
        one.assign([1.0, 2.0])
    assert _stops(watched, step, ([0.0, 2.0],)) == [0]


def test_an_update_that_is_not_made_does_no_harm(watched) -> None:
    """As loss scaling leaves it out."""
    variable = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: Any) -> Any:
        gradient = tf.math.log(x)
        if tf.reduce_all(tf.math.is_finite(gradient)):
            variable.assign_sub(gradient)
        return tf.reduce_sum(x)

    assert _stops(watched, step, ([0.0, 2.0],), ([1.0, 2.0],)) == []
    variable.assign([3e38, 1.0])
    add = tf.function(lambda x: tf.cond(x > 0, lambda: variable.assign_add([x, x])[1] * 0.0, lambda: x))
    assert _stops(watched, add, (-3e38,), (3e38,)) == [1]


def test_a_gradient_from_outside_counts_only_where_it_is_applied(watched) -> None:
    """A maximum does not show what it was given."""
    kept = tf.Variable([[3.0, 4.0]])

    @tf.function
    def step(x: Any, apply: Any) -> Any:
        gradient = tf.math.log(x)
        if apply:
            tf.raw_ops.ResourceScatterMax(resource=kept.handle, indices=[0], updates=gradient[None])
        return tf.constant(1.0)

    assert _stops(watched, step, ([1.0, -2.0], False), ([1.0, -2.0], True), ([1.0, 2.0], True)) == [1]


def test_what_a_tape_asks_of_a_function_is_a_result(watched) -> None:
    square = tf.function(lambda x: tf.sqrt(x))
    with watched(WATCH, Detach()) as front, tf.GradientTape() as tape:
        x = tf.constant([0.0, 4.0])
        tape.watch(x)
        y = square(x)
        tape.gradient(y, x)
    (end,) = front.ends
    assert end.run.call.function.startswith("gradient of")


def _results(function: Any, *specs: Any) -> list[str]:
    concrete = tf.function(function, autograph=False).get_concrete_function(*specs)
    traced = traced_function(compat.atomic_of(concrete))
    return [f"{traced.graph.node(name.node).op_type}" for name in traced.results]


def test_an_optional_is_looked_into_through_calls_branches_and_loops() -> None:
    scalar = tf.TensorSpec([], tf.float32)
    pack = tf.experimental.Optional.from_value
    inner = tf.function(lambda x: pack({"loss": tf.exp(x), "more": (tf.sin(x),)}))
    assert _results(lambda x: pack(tf.exp(x)), scalar) == ["Exp"]
    assert _results(lambda x: inner(x), scalar) == ["Exp", "Sin"]
    assert _results(lambda x: (inner(x), tf.cos(x)), scalar) == ["Exp", "Sin", "Identity"]
    branches = lambda x: tf.cond(x > 0, lambda: pack(tf.exp(x)), lambda: pack(tf.sin(x)))  # noqa: E731
    assert _results(branches, scalar) == ["Exp", "Sin"]

    def loop(x: Any) -> Any:
        empty = tf.experimental.Optional.empty(tf.TensorSpec([], tf.float32))
        body = lambda i, last: (i + 1, pack(tf.exp(x)))  # noqa: E731
        return tf.while_loop(lambda i, last: i < 3, body, [tf.constant(0), empty])[1]

    assert _results(loop, scalar) == ["Exp"]
    assert _results(lambda x: tf.experimental.Optional.empty(tf.TensorSpec([], tf.float32)), scalar) == ["Identity"]


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize("options", [{}, {"steps_per_execution": 2}], ids=["one step", "two steps"])
def test_the_loss_of_a_step_counts_though_keras_packs_it(watched, name, options) -> None:
    """Only the loss is bad, and the metric that adds it up; the weights are as they should be."""
    keras = library(name)

    class Broken(keras.losses.Loss):  # type: ignore[misc]
        def call(self, y_true: Any, y_pred: Any) -> Any:
            bad = tf.reduce_max(y_true) > 100.0
            loss = tf.reduce_mean(tf.square(y_pred - tf.minimum(y_true, 1.0)), -1)
            return loss + tf.where(bad, tf.constant(np.inf), 0.0)

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", Broken(), **options)
    x, y = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
    with watched(WATCH, Detach()) as front:
        model.fit(x, y, batch_size=2, verbose=0, shuffle=False)
    assert not front.ends
    y[5] = 1000.0
    with watched(WATCH, Detach()) as front:
        model.fit(x, y, batch_size=2, verbose=0, shuffle=False)
        model.evaluate(x, y, batch_size=2, verbose=0)
    (end,) = front.ends
    assert any("loss" in fetch or "Identity" in fetch for fetch in end.run.call.fetches)
    assert all(np.isfinite(weight).all() for weight in model.get_weights())


def test_few_tensors_are_checked_and_no_value_that_is_assigned() -> None:
    """To read what is assigned could keep TensorFlow from merging it with other ops; the variable is read instead."""
    variable = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: Any) -> Any:
        y = x
        for _ in range(10):
            y = tf.nn.relu(y * 1.5)
        variable.assign(0.9 * variable + 0.1 * y)
        return tf.reduce_sum(y)

    concrete = step.get_concrete_function(tf.TensorSpec([2], tf.float32))
    kind = watch_kind(Plan(1, Action.CAPTURE, watched=WatchRequest("bad_result", bad_result)), "step", "")
    assert kind is not None
    frontier = traced_function(compat.atomic_of(concrete)).watched(kind).frontier
    checked = {str(one.name) for checks in frontier.checks.values() for one in checks}
    assert len(checked) == 2
    assert any("after_update" in name for name in checked)


@pytest.mark.parametrize("decision", [WATCH, KEEP], ids=["replay", "keep"])
def test_a_running_minimum_that_is_still_infinite_does_not_stop(watched, decision) -> None:
    best, worst = tf.Variable([np.inf, 1.0]), tf.Variable(-np.inf)

    @tf.function
    def lower(loss: Any) -> None:
        best.assign(tf.minimum(best, tf.stack([np.inf, loss])))

    @tf.function
    def step(loss: Any) -> Any:
        if loss > 0.0:
            lower(loss)
            worst.assign(tf.maximum(worst, tf.where(loss > 1.0, loss, -np.inf)))
        return loss * 2.0

    with watched(decision, Detach()) as front:
        for loss in (-1.0, 0.5, 2.0, 0.25):
            step(tf.constant(loss))
    assert not front.ends
    said = [text for text in front.said if "there before the run" in text]
    assert len(said) == 1 and all(text.endswith("The watch goes on.") for text in said), said
    assert best.numpy().tolist() == [np.inf, 0.25] and worst.numpy() == 2.0
    with watched(decision, Detach()) as front:
        worst.assign(-np.inf)
        step(tf.constant(np.inf))
    assert front.ends, "the result is infinite"


def test_a_buffer_of_nan_that_is_written_element_by_element_stops_at_the_first_nan_that_is_computed(watched) -> None:
    buffer = tf.Variable(np.full(4, _NAN))

    @tf.function
    def fill(at: Any, x: Any) -> None:
        buffer[at].assign(tf.sqrt(x))

    assert _stops(watched, fill, (0, 1.0), (1, 4.0), (3, -1.0), (2, 9.0)) == [2]
    (end,) = _watched_end(watched, fill, 3, -1.0)
    origin = OriginSearch(end.run).first()
    assert origin is not None
    assert OriginSearch(end.run).harmful(origin)[0].op_type == "Sqrt"


@pytest.mark.parametrize("update", ["assign", "assign_sub", "keras"])
def test_weights_that_are_nan_from_the_start_stop_at_the_first_step(watched, update) -> None:
    weights = tf.Variable([_NAN, 1.0])
    optimizer = library("keras").optimizers.SGD(0.1)
    optimizer.build([weights])

    @tf.function
    def step(x: Any) -> None:
        if update == "keras":
            optimizer.apply([x], [weights])
        elif update == "assign":
            weights.assign(weights - 0.1 * x)
        else:
            weights.assign_sub(0.1 * x)

    assert _stops(watched, step, ([1.0, 2.0],)) == [0]


def _watched_end(watched: Any, function: Any, *arguments: Any) -> list[Any]:
    with watched(WATCH, Detach()) as front:
        function(*(tf.constant(argument) for argument in arguments))
    return list(front.ends)
