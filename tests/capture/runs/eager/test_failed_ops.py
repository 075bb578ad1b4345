"""Eager ops that fail: their inputs and their line are part of the run that the error ended."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.capture.tf.op_errors import run_error
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun, RunUntil
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import user_frame

pytestmark = pytest.mark.tf


@pytest.fixture(autouse=True)
def _wrappers_are_gone() -> Iterator[None]:
    """The frames in the tracebacks of errors keep wrapped functions, which are in cycles."""
    yield
    gc.collect()


def failed_run(function: Any, *arguments: Any) -> Run:
    """The captured run of a call that fails; the error is that of the undebugged call."""
    front = ScriptedFrontend(DebugRun())
    with pytest.raises(tf.errors.OpError) as plain:
        function(*arguments)
    with pytest.raises(type(plain.value)) as debugged:
        DebuggedFunction(function, Debugger(lambda: front))(*arguments)
    assert str(debugged.value) == str(plain.value)
    (end,) = front.ends
    return end.run


def given(run: Run) -> dict[str, Any]:
    """What the op that failed was given, by name."""
    assert run.error is not None and run.error.node is not None
    return {
        str(one.name): one.value if isinstance(one.value, np.ndarray) else None
        for one in Lineage(run).inputs_of_node(run.graph.node(run.error.node))
    }


def test_an_op_that_fails_shows_what_it_was_given() -> None:
    def step(x: Any, table: Any) -> Any:
        at = tf.cast(x * 2.0, tf.int32)
        return tf.raw_ops.GatherV2(params=table, indices=at, axis=0)  # here

    run = failed_run(step, tf.constant([1.0, 2.0]), tf.constant([5.0, 6.0, 7.0]))
    assert run.error is not None and run.error.node == "GatherV2_0"
    values = given(run)
    assert [*values][:2] == ["table:0", "Cast_0:0"]
    np.testing.assert_array_equal(values["Cast_0:0"], [2, 4])
    np.testing.assert_array_equal(values["table:0"], [5, 6, 7])
    frame = user_frame(run.tracebacks["GatherV2_0"])
    assert frame is not None and "# here" in frame.text
    assert not run.tensors.named("GatherV2_0")


def test_so_does_one_that_a_tape_runs() -> None:
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.math.exp(x)
        return tape.gradient(y, x, output_gradients=tf.ones([3]))

    run = failed_run(step, tf.constant([0.0, 1.0]))
    assert run.error is not None and run.error.node == "gradient_tape/Mul_0"
    assert sorted(one.shape for one in given(run).values()) == [(2,), (3,)]


def test_and_one_of_a_tape_whose_ops_a_watch_looks_at_later() -> None:
    debugger = Debugger(lambda: ScriptedFrontend())
    watch = watch_of(debugger)
    debugger.attendant = watch
    debugger.set_watch(RunUntil("has_inf_or_nan"))
    x = tf.Variable([0.0, 1.0])
    try:
        with tf.GradientTape() as tape:
            y = tf.math.exp(x)
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            tape.gradient(y, x, output_gradients=tf.ones([3]))
        run = watch.broken_off(run_error(error.value), (), 0)
        assert run is not None and run.error is not None and run.error.node == "gradient_tape/Mul_0"
        assert sorted(one.shape for one in given(run).values()) == [(2,), (3,)]
    finally:
        debugger.attendant = None
        watch.attend(False)


def test_one_inside_of_a_function_that_is_called_shows_what_it_was_given_there() -> None:
    @tf.function
    def look_up(x: Any, at: Any) -> Any:
        return tf.gather(tf.math.log(x), tf.fill([2], at))

    run = failed_run(lambda x, at: look_up(x + 1.0, at), tf.constant([0.0, 1.0]), tf.constant(7))
    assert run.error is not None and run.error.node == "look_up_0/GatherV2"
    values = given(run)
    np.testing.assert_allclose(values["look_up_0/Log:0"], np.log([1.0, 2.0]), rtol=1e-6)
    np.testing.assert_array_equal(values["look_up_0/Fill:0"], [7, 7])


def test_an_op_that_failed_and_was_caught_is_no_part_of_the_run() -> None:
    def step(data: Any) -> Any:
        total = tf.constant(0.0)
        for x in data:  # ends by an op that fails
            total += x
        return total * 2.0

    front = ScriptedFrontend(DebugRun())
    data = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
    assert DebuggedFunction(step, Debugger(lambda: front))(data).numpy() == 6
    (end,) = front.ends
    types = [node.op_type for node in end.run.graph]
    assert types.count("IteratorGetNext") == 2
    assert "Mul_0" in end.run.graph


def test_one_that_takes_the_slow_way_is_noted_too() -> None:
    run = failed_run(lambda x: tf.reshape(tf.math.exp(x), [3, 2]), tf.constant([0.0, 0.0]))
    assert run.error is not None and run.error.node == "Reshape_0"
    np.testing.assert_array_equal(given(run)["Exp_0:0"], [1, 1])


def test_ops_that_run_behind_the_failed_one_do_not_hide_it() -> None:
    def step(x: Any) -> Any:
        try:
            return tf.linalg.matmul(x, x)
        finally:
            _ = tf.matmul(x, x, transpose_b=True)

    run = failed_run(step, tf.ones([1, 2]))
    assert run.error is not None and run.error.node == "MatMul_1"
    assert [one.shape for one in given(run).values()] == [(1, 2)]
    assert len(run.tensors) == 1


def test_an_error_of_another_op_is_not_that_of_one_that_was_caught() -> None:
    def step(x: Any) -> Any:
        with suppress(tf.errors.InvalidArgumentError):
            tf.matmul(x, tf.ones([5, 1]))
        return tf.raw_ops.GatherV2(params=x, indices=[7], axis=0)

    run = failed_run(step, tf.ones([1, 2]))
    assert run.error is not None and run.error.node == "GatherV2_0"
