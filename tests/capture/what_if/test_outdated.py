"""What depends on a replaced tensor and leads to replaced ones only: it is computed again, or said to be outdated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.sample_run import run_end
from support.what_if_runs import captured, value_of

from tfdbg_cli.capture.what_if.outdated import outdated
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, GraphChoice
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.values import NoValue


@pytest.mark.tf
@pytest.mark.parametrize("whole", [False, True], ids=["of a part", "of the whole run"])
def test_in_a_function(whole) -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.runs.function.traced_function import traced_function
    from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
    from tfdbg_cli.capture.tf.compat import atomic_of
    from tfdbg_cli.capture.what_if.whole_run import WholeWhatIf

    w = tf.Variable([1.0, 1.0], name="w")

    @tf.function
    def step(x):
        w.assign(x)
        h = tf.add(tf.exp(x, name="h"), tf.square(w.read_value(), name="written"), name="sum")
        first, second = tf.split(h, 2, name="parts")
        apart = tf.square(tf.constant([3.0]), name="apart")
        return tf.concat([tf.math.log(first + apart, name="log"), second], 0, name="result")

    x = tf.constant([0.0, 1.0])
    run, what_if, inputs = captured(step, x)
    if whole:
        concrete = step.get_concrete_function(x)
        plan = traced_function(atomic_of(concrete)).snapshot_plan
        run = replace(run, replayable=CallSnapshot.of(plan, inputs))
    given = {
        TensorName("x", 0): np.float32([2.0, 3.0]),
        TensorName("log", 0): np.float32([5.0]),
        TensorName("parts", 1): np.float32([7.0]),
    }
    again = WholeWhatIf(what_if).again(run, given)
    assert value_of(again, "result").tolist() == [5.0, 7.0]
    np.testing.assert_allclose(value_of(again, "h"), np.exp([2.0, 3.0]), rtol=1e-6)
    np.testing.assert_array_equal(value_of(again, "parts"), value_of(again, "sum")[:1])
    assert value_of(again, "apart") == [9.0]
    if whole:
        assert value_of(again, "written").tolist() == [4.0, 9.0], "the update that it reads went on from what was set"


@pytest.mark.tf
def test_the_other_outputs_of_an_op_of_a_session(tf, graph, debugged) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    h = tf.exp(x, name="h")
    first, second = tf.split(h * 2.0, 2, name="parts")
    out = tf.concat([tf.log(first), second], 0, name="out")
    found = []

    def at_end(event):
        given = {TensorName("x", 0): np.float32([2.0, 3.0]), TensorName("parts", 0): np.float32([1.0])}
        found.append(event.run.what_if.again(event.run, given))
        return DebugRun()

    with tf.Session() as session:
        wrapped, _ = debugged(session, DebugRun(CaptureRequest(graph=GraphChoice.PYTHON)), at_end)
        wrapped.run(out, {x: [0.0, 1.0]})
    (again,) = found
    np.testing.assert_allclose(value_of(again, "parts", slot=1), [2 * np.exp(3.0)], rtol=1e-6)
    np.testing.assert_allclose(value_of(again, "out"), [0.0, 2 * np.exp(3.0)], rtol=1e-6)


def test_what_was_not_made_again_is_not_told_as_if_it_had_been() -> None:
    run = run_end().run
    lacking = {"loss/Log", "loss/mul", "y"}
    rows = [row for row in range(len(run.tensors)) if run.tensors[row].node not in lacking]
    after = PartOfStore(run.tensors, rows)
    found = outdated(run, after, [TensorName("prob", 0)], ())
    assert {str(name) for name in found} == {"loss/Log:0", "loss/mul:0"}
    assert all(isinstance(value, NoValue) and "not computed again" in value.text for value in found.values())
    assert not outdated(run, after, [TensorName("prob", 0)], ["loss/Log"]), "it keeps what it drew"
