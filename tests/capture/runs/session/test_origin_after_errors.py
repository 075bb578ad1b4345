"""After an error the origin is found wherever the run was: in a loop, in a function, behind random numbers."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest
from support.prompt import text_of

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice, RunUntil, Values

pytestmark = pytest.mark.tf

FILTER = "has_inf_or_nan"
MODES = {
    "run": DebugRun(),
    "watch": RunUntil(FILTER),
    "keep": RunUntil(FILTER, values=Values.KEEP),
    "runtime": RunUntil(FILTER, capture=CaptureRequest(graph=GraphChoice.RUNTIME)),
}


def in_loop(tf: Any, x: Any) -> Any:
    def body(i: Any, y: Any) -> list[Any]:
        return [i + 1, tf.check_numerics(tf.log(y) + 1.0, "bad")]

    return tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]


def in_function(tf: Any, x: Any) -> Any:
    @tf.compat.v2.function(autograph=False)
    def inner(a: Any) -> Any:
        return tf.log(a * 1.0)

    @tf.compat.v2.function(autograph=False)
    def outer(a: Any) -> Any:
        return tf.check_numerics(inner(a) * 2.0, "bad")

    return outer(x + 0.0)


def behind_random(tf: Any, x: Any) -> Any:
    y = tf.log(x + tf.random_uniform([2]) * 1e-3, name="y")
    return tf.check_numerics(y * 2.0, "bad")


@pytest.mark.usefixtures("loops_of_v1")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("build", [in_loop, in_function, behind_random])
def test_the_origin_is_found_when_the_run_failed(tf, debugged, graph, mode, build) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    out = build(tf, x)
    with tf.Session() as raw:
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(out, {x: [[2.0, 3.0], [2.0, -1.0]]})
    run = front.ends[0].run
    assert run.error is not None
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin.op_type == "Log"
    assert origin.cause.text.startswith("Log of a negative number")
    assert origin.frame is not None
    assert origin.frame.file == __file__
    assert origin.batch_rows == (1,)


@pytest.mark.parametrize("mode", ["watch", "keep"])
def test_a_run_without_values_is_not_called_fine(tf, debugged, graph, mode) -> None:
    @tf.compat.v2.function(autograph=False)
    def noisy(a: Any) -> Any:
        return tf.log(a + tf.random_uniform([2], seed=3) * 1e-3)

    x = tf.placeholder(tf.float32, [None, 2], name="x")
    out = tf.check_numerics(noisy(x) * 2.0, "bad")
    with tf.Session() as raw:
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(out, {x: [[2.0, 3.0], [2.0, -1.0]]})
    run = front.ends[0].run
    assert not len(run.tensors)
    said = text_of("origin", run, width=400)
    assert "No NaN" not in said
    assert "The run failed" in said
    assert "RandomUniform" in said  # what stands in the way of making it again
    assert "--graph runtime" in said  # the way out; see the mode `runtime` above


def looped(tf: Any, x: Any) -> Any:
    """Turn 2 fails, of the loop in turn 1 of the one around it."""

    def inner(i: Any, y: Any) -> list[Any]:
        return [i + 1, tf.check_numerics(tf.log(y, name="log"), "bad")]

    def outer(i: Any, y: Any) -> list[Any]:
        return [i + 1, tf.while_loop(lambda i, y: i < 4, inner, [0, y * 1.0])[1]]

    return tf.while_loop(lambda i, y: i < 2, outer, [0, x])[1]


def chosen(tf: Any, x: Any) -> Any:
    branches = [lambda: x, lambda: tf.check_numerics(tf.log(x - 1.0, name="log") * 2.0, "bad")]
    return tf.switch_case(tf.cast(tf.reduce_sum(x), tf.int32) // 5, branches)


def asserted(tf: Any, x: Any) -> Any:
    def bad() -> Any:
        y = tf.log(x - 1.0, name="log")
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(tf.math.is_finite(y)), [y])]):
            return tf.identity(y)

    return tf.cond(tf.reduce_any(x > 0.0), bad, lambda: x)


def of_version_1(tf: Any, x: Any) -> Any:
    from tensorflow.python.framework import function

    @function.Defun(tf.float32)
    def called(a: Any) -> Any:
        return tf.check_numerics(tf.log(a - 1.0, name="log"), "bad") * 2.0

    return called(x * 1.0) + 3.0


def loop_in_function(tf: Any, x: Any) -> Any:
    @tf.compat.v2.function(autograph=False)
    def called(a: Any) -> Any:
        def body(i: Any, y: Any) -> list[Any]:
            return [i + 1, tf.check_numerics(tf.log(y, name="log"), "bad")]

        return tf.while_loop(lambda i, y: i < 4, body, [0, a])[1]

    return called(x + 0.0)


INSIDE = {
    looped: ("/body/CheckNumerics", 1),
    chosen: ("switch_case/indexed_case/branch1/CheckNumerics", 0),
    asserted: ("cond/true/Assert/AssertGuard/false/Assert", 0),
    of_version_1: ("/CheckNumerics", 0),
    loop_in_function: ("while/body/CheckNumerics", 1),
}


@pytest.mark.usefixtures("flow_of_v2")
@pytest.mark.parametrize("mode", ["run", "watch", "keep"])
@pytest.mark.parametrize("build", INSIDE)
def test_what_a_call_computed_in_a_turn_that_failed_is_there(tf, debugged, graph, mode, build) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    out = build(tf, x)
    with tf.Session() as raw:
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(out, {x: [[2.0, 3.0], [4.0, 0.5]]})
    run = front.ends[0].run
    failing, turn = INSIDE[build]
    assert run.error is not None
    assert run.error.node.endswith(failing)
    assert run.error.inputs_note == ""
    assert run.graph.node(run.error.node).op_type in ("CheckNumerics", "Assert")
    origin = OriginSearch(run).first()
    assert origin is not None
    tensor = run.tensors[origin.index]
    assert (tensor.op_type, tensor.execution) == ("Log", turn)
    assert origin.cause.text.startswith("Log of a negative number"), "what it was given is of the same turn"
    assert origin.batch_rows == (1,)
    assert origin.frame.file == __file__


@pytest.mark.usefixtures("loops_of_v1")
@pytest.mark.parametrize("fails", [True, False])
def test_a_function_in_a_loop_of_version_1_is_looked_into_turn_by_turn(tf, debugged, graph, fails) -> None:
    @tf.compat.v2.function(autograph=False)
    def called(a: Any) -> Any:
        found = tf.log(a, name="log")
        return tf.check_numerics(found, "bad") if fails else found * 1.0

    x = tf.placeholder(tf.float32, [None, 2], name="x")
    out = tf.while_loop(lambda i, y: i < 4, lambda i, y: [i + 1, called(y)], [0, x])[1]
    with tf.Session() as raw:
        session, front = debugged(raw, MODES["watch"], Detach(), Detach())
        if fails:
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(out, {x: [[2.0, 3.0], [4.0, 0.5]]})
        else:
            session.run(out, {x: [[2.0, 3.0], [4.0, 0.5]]})
    run = front.ends[0].run
    origin = OriginSearch(run).first()
    tensor = run.tensors[origin.index]
    assert (tensor.op_type, tensor.execution) == ("Log", 1)
    assert origin.cause.text.startswith("Log of a negative number")
    np.testing.assert_allclose(origin.inputs[0].value, np.log([[2.0, 3.0], [4.0, 0.5]]), rtol=1e-6)


@pytest.mark.parametrize("mode", ["run", "watch"])
def test_what_a_variable_of_the_old_kind_was_before_a_failing_run_and_became_is_told(
    tf, debugged, graph, mode
) -> None:
    v = tf.get_variable("v", initializer=[2.0, 3.0], use_resource=False)
    before = tf.log(v, name="before")
    with tf.control_dependencies([before]):
        update = tf.assign_sub(v, [3.0, 0.0], name="update")
    out = tf.check_numerics(tf.log(update, name="late") + before, "bad")
    with tf.Session() as raw:
        raw.run(v.initializer)
        session, front = debugged(raw, MODES[mode], Detach(), Detach())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(out)
    run = front.ends[0].run
    for node, value in {"v/read": [2.0, 3.0], "v": [2.0, 3.0], "update": [-1.0, 3.0]}.items():
        (row,) = run.tensors.named(node, 0)
        np.testing.assert_array_equal(run.tensors.value(row), np.float32(value))
    assert OriginSearch(run).first().cause.text.startswith("Log of a negative number: update:0")


@pytest.mark.usefixtures("flow_of_v2")
@pytest.mark.parametrize("mode", MODES)
def test_the_exception_looks_as_without_us(tf, debugged, graph, mode) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    out = looped(tf, x)
    shown = []
    with tf.Session() as raw:
        session, _ = debugged(raw, MODES[mode], Detach(), Detach())
        for one in (raw, session):
            with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                one.run(out, {x: [[2.0, 3.0], [4.0, 0.5]]})
            cause = raised.value.__context__
            frames = [(step.filename, step.lineno) for step in traceback.extract_tb(cause.__traceback__)]
            shown.append((str(raised.value), str(cause), frames))
    assert shown[0] == shown[1]
