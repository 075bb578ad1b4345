"""Calls whose ops run eagerly, recorded one by one."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction
from tfdbg_cli.capture.runs.eager.call import eager_block
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import (
    Continue,
    DebugRun,
    Decision,
    Detach,
    PlainRun,
    ProfileRun,
    RunTo,
    RunUntil,
    StepOn,
)
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import Pace, Place
from tfdbg_cli.model.runs import RunEnd, Stop
from tfdbg_cli.model.sources import user_frame
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf
RUN = DebugRun()


def wrapped(function: Any, *script: Any, settings: Settings | None = None) -> tuple[Any, ScriptedFrontend]:
    front = ScriptedFrontend(*script, settings=settings)
    return DebuggedFunction(function, Debugger(lambda: front, settings=settings)), front


def value(run: Any, name: str) -> Any:
    node, slot = name.split(":")
    return run.tensors.value(run.tensors.named(node, int(slot))[0])


def test_ops_are_recorded_with_their_values_data_flow_and_lines() -> None:
    def standardize(x, scale=2.0):
        centered = x - tf.reduce_mean(x)
        return centered / tf.reduce_sum(centered) * scale  # the division

    debugged, front = wrapped(standardize, RUN)
    x = tf.constant([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(debugged(x), standardize(x))
    start, end = front.stops
    assert start.call.kind is RunKind.EAGER
    assert start.call.title == "run #1: standardize(x)"
    run = end.run
    assert [node.name for node in run.graph if node.op_type != "Placeholder"] == [
        "Mean_0", "Sub_0", "Sum_0", "RealDiv_0", "Mul_0",
    ]  # fmt: skip
    assert [str(name) for name in run.graph.node("Sub_0").inputs] == ["x:0", "Mean_0:0"]
    np.testing.assert_array_equal(value(run, "Sub_0:0"), [-1, 0, 1])
    frame = user_frame(run.tracebacks["RealDiv_0"])
    assert frame is not None and "# the division" in frame.text and frame.function == "standardize"
    np.testing.assert_array_equal(run.call.feeds["x"], [1, 2, 3])
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "RealDiv_0:0"


def test_what_was_there_before_the_call_is_an_input_with_its_value() -> None:
    table = tf.constant([5.0, 6.0])
    debugged, front = wrapped(lambda x: x + table, RUN)
    debugged(tf.constant([1.0, 2.0]))
    run = front.ends[0].run
    outside = run.graph.node("AddV2_0").inputs[1].node
    np.testing.assert_array_equal(run.call.feeds[outside], [5, 6])


def test_functions_in_it_are_recorded_with_their_insides_and_run_once() -> None:
    weights = tf.Variable([1.0, 2.0], name="weights")

    @tf.function
    def logarithm(x):
        weights.assign_add([1.0, 1.0])
        return tf.math.log(x) * weights

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(logarithm(x - 1.0))
        return loss, tape.gradient(loss, weights)

    x = tf.constant([2.0, 1.0])
    loss, gradient = step(x)
    weights.assign([1.0, 2.0])
    debugged, front = wrapped(step, RUN)
    again = debugged(x)
    np.testing.assert_array_equal(again[0], loss)
    np.testing.assert_array_equal(again[1], gradient)
    np.testing.assert_array_equal(weights.numpy(), [2, 3])
    run = front.ends[0].run
    np.testing.assert_array_equal(value(run, "logarithm_0/Log:0"), [0, -np.inf])
    assert [str(name) for name in run.graph.node("logarithm_0/Log").inputs] == ["Sub_0:0"]
    # The gradient reads what was made in the forward function.
    gradients = [node for node in run.graph if node.name.startswith("gradient_of_logarithm_0/")]
    assert any(name.node == "logarithm_0/Log" for node in gradients for name in node.inputs)
    frame = user_frame(run.tracebacks["logarithm_0/Log"])
    assert frame is not None and "tf.math.log" in frame.text


def test_an_error_shows_the_line_that_failed_and_all_before_it() -> None:
    def fail(x):
        y = tf.matmul(x, x)
        return y + tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))  # here

    debugged, front = wrapped(fail, RUN)
    x = tf.ones([2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError) as plain:
        fail(x)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        debugged(x)
    assert str(error.value) == str(plain.value)
    run = front.ends[0].run
    assert run.error is not None and run.error.node == "MatMul_1"
    frame = user_frame(run.tracebacks["MatMul_1"])
    assert frame is not None and "# here" in frame.text
    assert not any("tfdbg_cli" in frame.file for frame in run.tracebacks["MatMul_1"])
    assert value(run, "MatMul_0:0").tolist() == [[2, 2], [2, 2]]


def test_other_exceptions_come_out_and_the_program_goes_on() -> None:
    def fail(x):
        raise KeyError("theirs")

    debugged, front = wrapped(fail, RUN, RUN)
    for _ in range(2):
        with pytest.raises(KeyError, match="theirs"):
            debugged(tf.constant(1))
    assert front.path == ["start 1", "start 2"]


def test_nothing_is_left_installed_after_a_run_that_is_recorded() -> None:
    names = compat.FAST_EXECUTOR, compat.SLOW_EXECUTOR
    before = [getattr(compat.EXECUTORS, name) for name in names]
    debugged, _ = wrapped(lambda x: x + 1, RUN, PlainRun())
    debugged(tf.constant(1))
    assert [getattr(compat.EXECUTORS, name) for name in names] == before


@pytest.mark.parametrize("decision", [Continue(), Detach(), PlainRun(), ProfileRun()])
def test_other_decisions_run_it_as_it_is(decision) -> None:
    debugged, front = wrapped(lambda x: x + 1, decision)
    assert debugged(tf.constant(1)).numpy() == 2
    if isinstance(decision, ProfileRun):
        assert "no times" in front.ends[0].run.notes[0]


def test_a_watch_over_an_eager_loop() -> None:
    debugged, front = wrapped(lambda x: tf.math.log(x), RunUntil("has_inf_or_nan"))
    for x in (2.0, 1.0, 0.0, 1.0):
        debugged(tf.constant(x))
    assert front.ends[0].run.call.number == 3


def test_a_watch_that_keeps_runs_stops_at_the_op_as_any_does() -> None:
    """A blind test: with --keep a step of Keras that runs eagerly was over, and had written its variables."""

    def step(x: Any) -> Any:
        return tf.exp(tf.math.log(x))

    debugged, front = wrapped(step, RunUntil("has_inf_or_nan", keep=2))
    for number in (1.0, 2.0, 0.0):
        debugged(tf.constant(number))
    end = front.ends[0]
    assert end.run.unfinished
    assert [node.op_type for node in end.run.graph] == ["Placeholder", "Log"]
    assert [float(value(run, "Exp_0:0")) for run in end.earlier] == pytest.approx([1.0, 2.0])


def test_the_budget_of_memory_is_kept() -> None:
    def grow(x):
        for _ in range(5):
            x = x + 1.0
        return x

    debugged, front = wrapped(grow, RUN, settings=Settings(memory_budget=900))
    assert debugged(tf.zeros([100]))[0].numpy() == 5
    run = front.ends[0].run
    assert len(run.tensors) == 2
    assert any("The first 3 ops of this run are not shown" in note for note in run.notes)


def test_tracing_within_the_call_is_not_recorded() -> None:
    @tf.function
    def inner(x):
        return tf.sin(x)

    debugged, front = wrapped(lambda x: inner(x), RUN)
    debugged(tf.constant(1.0))
    assert [node.name for node in front.ends[0].run.graph if "Sin" in node.op_type] == ["inner_0/Sin"]


def test_structured_arguments_are_named_after_the_parameter() -> None:
    debugged, front = wrapped(lambda batch, flag: batch["x"] + batch["y"][0], RUN)
    debugged({"x": tf.constant(1), "y": [tf.constant(2)]}, flag=object())
    assert [a.name for a in front.stops[0].call.arguments] == ["batch_0", "batch_1"]


def test_arguments_that_tensorflow_has_no_type_for_cost_no_run() -> None:
    """A blind test: of a call that was given dates it was said that its run could not be shown."""
    debugged, front = wrapped(lambda x, day, gap, rows: tf.exp(x), RUN)
    rows = np.zeros(2, [("id", "i4"), ("share", "f4")])
    debugged(tf.constant(1.0), np.array(["2020-01-01", "NaT"], "datetime64[D]"), np.timedelta64(3, "s"), rows)
    start, end = front.stops
    types = [(argument.name, argument.dtype) for argument in start.call.arguments]
    assert types == [("x", "float32"), ("day", "datetime64[D]"), ("gap", "timedelta64[s]"), ("rows", "void64")]
    feeds = end.run.call.feeds
    assert feeds["day"].tolist() == ["2020-01-01", "NaT"] and feeds["gap"].tolist() == "3 seconds"
    assert isinstance(feeds["rows"], NoValue)


def test_a_bug_of_ours_while_recording_is_none_of_the_programs(monkeypatch, capsys) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(RecentOps, "add", broken)
    debugged, _ = wrapped(lambda x: (x + 1) * 2, RUN)
    assert debugged(tf.constant(1)).numpy() == 4
    assert capsys.readouterr().err.count("a bug") == 1


def test_a_block_is_one_run() -> None:
    front = ScriptedFrontend(RUN)
    double = tf.function(lambda x: x * 2)
    with eager_block(Debugger(lambda: front), "block"):
        y = double(tf.constant(3) + 1)
    assert y.numpy() == 8
    assert front.path == ["start 1", "end 1"]
    assert value(front.ends[0].run, "AddV2_0:0") == 4


def test_an_error_leaves_a_block() -> None:
    front = ScriptedFrontend(RUN)
    with pytest.raises(tf.errors.InvalidArgumentError), eager_block(Debugger(lambda: front), "block"):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    assert front.ends[0].run.error is not None


def test_functions_that_run_eagerly_are_recorded(watched) -> None:
    @tf.function
    def f(x):
        return tf.sin(x) + 1.0

    tf.config.run_functions_eagerly(True)
    try:
        with watched(RUN) as front:
            f(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert front.ends[0].run.call.title == "run #1: f(x)"
    assert "Sin_0" in front.ends[0].run.graph


def test_values_inside_a_called_function_that_are_computed_when_looked_at() -> None:
    @tf.function
    def total(a, b, c):
        return tf.reshape(a + b, [-1]) + c

    debugged, front = wrapped(lambda x: total(x, x * 2.0, x * 3.0), RUN)
    debugged(tf.constant([1.0, 2.0]))
    (end,) = front.ends
    assert value(end.run, "total_0/add:0").tolist() == [3, 6]
    assert value(end.run, "total_0/Reshape:0").tolist() == [3, 6]
    assert end.run.tensors[end.run.tensors.named("total_0/add")[0]].nbytes == 8


def test_a_block_that_the_program_names_is_a_run() -> None:
    numbers: list[Any] = []

    def look(stop: Stop) -> Continue:
        assert isinstance(stop, RunEnd)
        numbers.extend(frame.names["number"] for frame in stop.run.frames if "number" in frame.names)
        return Continue()

    front = ScriptedFrontend(RunUntil("has_inf_or_nan"), look)
    debugger = Debugger(lambda: front)
    x = tf.constant([1.0, 0.0])
    for number in range(2):
        with eager_block(debugger, "step"), eager_block(debugger, "part of it"):
            y = tf.math.log(x - float(number))
    assert y.shape == (2,)
    start, end = front.stops
    assert start.call.title == "run #1: step()"
    assert end.run.call.title == "run #1: step()"
    assert 0 in numbers
    assert OriginSearch(end.run).first().op_type == "Log"


def paused_at(front: ScriptedFrontend) -> list[tuple[str, str]]:
    return [(end.run.call.title, end.run.paused.node) for end in front.ends if end.run.paused is not None]


def test_the_program_stops_within_a_function_that_runs_eagerly(watched) -> None:
    """A blind test: no step, place or breakpoint stopped in code that `run_functions_eagerly` has run so."""
    line = 0

    @tf.function
    def f(x):
        nonlocal line
        line = inspect.currentframe().f_lineno + 1
        y = tf.math.log(x)
        return tf.sqrt(y)

    def replaced(stop: Stop) -> Decision:
        assert isinstance(stop, RunEnd) and stop.run.paused is not None
        stop.run.paused.replace(TensorName("Log_0", 0), np.float32(9))
        return StepOn(Pace.OP)

    tf.config.run_functions_eagerly(True)
    try:
        with watched(RunTo(Place(op="Log")), replaced, StepOn(Pace.OP), lambda stop: breaks(stop, line)) as front:
            first, second = f(tf.constant(1.0)), f(tf.constant(2.0))
            f(tf.constant(4.0))
    finally:
        tf.config.run_functions_eagerly(False)
    titles = [f"run #{number}: f()" for number in (1, 2, 3)]
    met = [("Log_0", 0), ("Sqrt_0", 0), ("Log_0", 1), ("Log_0", 2)]
    assert paused_at(front) == [(titles[at], node) for node, at in met]
    assert (float(first), float(second)) == (3.0, pytest.approx(np.sqrt(np.log(2))))
    assert front.path == ["start 1", "end 1", "end 1", "end 2", "end 3"]


def breaks(stop: Stop, line: int) -> Decision:
    assert isinstance(stop, RunEnd)
    stop.breakpoints.add(Place(file=Path(__file__).name, line=line))
    return Continue()


def test_a_call_that_runs_eagerly_and_fails_behind_a_stop_shows_its_ops() -> None:
    debugged, front = wrapped(lambda x: tf.reshape(tf.exp(x), [3]), RunTo(Place(op="Exp")), StepOn(Pace.OP))
    with pytest.raises(tf.errors.InvalidArgumentError):
        debugged(tf.constant([1.0, 2.0]))
    failed = front.ends[-1].run
    assert failed.error is not None and failed.error.node == "Reshape_0" and "Exp_0" in failed.graph


def test_the_program_stops_within_a_step_of_keras_that_runs_eagerly(tf2, watched) -> None:
    model = tf2.keras.Sequential([tf2.keras.layers.Dense(3, activation="relu", name="d1")])
    model.compile("sgd", "mse", run_eagerly=True)
    with watched(RunTo(Place(op="Relu")), StepOn(Pace.OP), Detach()) as front:
        model.fit(np.ones((4, 2), np.float32), np.ones((4, 3), np.float32), verbose=0)
    (stopped, node), (after, _) = paused_at(front)
    assert stopped == after == "run #1: train_step()"
    assert node.endswith("d1/Relu_0")
