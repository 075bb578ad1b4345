"""Errors of ops: shown with what the op was given, then raised as the very same object."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import numpy as np
import pytest
from support.launched import python

from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, Detach, GraphChoice, RunUntil

pytestmark = pytest.mark.tf

RUNTIME = DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME))
PYTHON = DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))
EVERY_WAY = pytest.mark.parametrize(
    "script",
    [[RUNTIME], [PYTHON], [Continue()], [RunUntil("has_inf_or_nan")], [DebugRun(times=5)], [Detach()], []],
    ids=["runtime", "python", "continue", "watch", "later", "detach", "default"],
)


@pytest.fixture
def failing(tf, graph):
    x = tf.placeholder(tf.float32, [None, None], name="x")
    w = tf.get_variable("w", initializer=np.ones([3, 2], np.float32), use_resource=True)
    return x, tf.matmul(tf.square(x, name="squared"), w, name="product"), w.initializer


def raised(tf, call) -> Exception:
    with pytest.raises(tf.errors.OpError) as caught:
        call()
    return caught.value


@EVERY_WAY
def test_the_error_is_the_same_as_without_us(tf, debugged, failing, script) -> None:
    """TensorFlow's tfdbg: the exception was returned as the value of the run."""
    x, product, init = failing
    with tf.Session() as raw:
        raw.run(init)
        plain = raised(tf, lambda: raw.run(product, {x: [[1.0]]}))
        session, _ = debugged(raw, *script)
        ours = raised(tf, lambda: session.run(product, {x: [[1.0]]}))
    assert type(ours) is type(plain) is tf.errors.InvalidArgumentError
    assert ours.message == plain.message
    assert ours.op is plain.op
    assert ours.error_code == plain.error_code
    assert type(ours.__context__) is type(plain.__context__)
    assert ours.__cause__ is plain.__cause__


@pytest.mark.parametrize("script", [[RUNTIME], [PYTHON], [Continue()], [RunUntil("has_inf_or_nan")]])
def test_a_variable_that_is_fetched_before_it_has_a_value(tf, debugged, graph, script) -> None:
    """The op that failed was said to be in no graph: the runtime names it after what it puts behind the variable."""
    v = tf.get_variable("v", [2], use_resource=False)
    with tf.Session() as raw:
        session, front = debugged(raw, *script)
        assert "uninitialized value v" in raised(tf, lambda: session.run(v)).message
    assert front.ends[-1].run.error.node == "v"


@EVERY_WAY
def test_the_same_holds_for_callables(tf, debugged, failing, script) -> None:
    x, product, init = failing
    with tf.Session() as raw:
        raw.run(init)
        plain = raised(tf, lambda: raw.make_callable(product, [x])([[1.0]]))
        session, _ = debugged(raw, *script)
        ours = raised(tf, lambda: session.make_callable(product, [x])([[1.0]]))
        bare_plain = raised(tf, raw.make_callable(product))
        session, _ = debugged(raw, *script)
        bare_ours = raised(tf, session.make_callable(product))
    assert (type(ours), ours.message) == (type(plain), plain.message)
    assert (type(bare_ours), bare_ours.message) == (type(bare_plain), bare_plain.message)


def test_the_traceback_holds_few_frames_of_ours(tf, debugged, failing) -> None:
    x, product, init = failing
    with tf.Session() as raw:
        raw.run(init)
        plain = raised(tf, lambda: raw.run(product, {x: [[1.0]]}))
        session, _ = debugged(raw, RUNTIME)
        ours = raised(tf, lambda: session.run(product, {x: [[1.0]]}))
    theirs = [frame.name for frame in traceback.extract_tb(plain.__traceback__) if "tensorflow" in frame.filename]
    frames = traceback.extract_tb(ours.__traceback__)
    assert [frame.name for frame in frames if "/tensorflow/" in frame.filename] == theirs
    assert len([frame for frame in frames if "/tfdbg_cli/" in frame.filename]) <= 3


@pytest.mark.parametrize("script", [[RUNTIME], [PYTHON], [Continue()]], ids=["runtime", "python", "continue"])
def test_the_stop_shows_the_op_and_what_it_was_given(tf, debugged, failing, script) -> None:
    x, product, init = failing
    with tf.Session() as raw:
        raw.run(init)
        session, front = debugged(raw, *script)
        raised(tf, lambda: session.run(product, {x: [[3.0]]}))
    (end,) = front.ends
    error = end.run.error
    assert (error.type_name, error.node) == ("InvalidArgumentError", "product")
    assert "Matrix size-incompatible" in error.message
    (index,) = end.run.tensors.named("squared", 0)
    assert end.run.tensors.value(index).tolist() == [[9.0]]
    # A run that is made again for the screen shows them itself, as the runtime graph does.
    assert ("computed again" in error.inputs_note) is (script not in ([RUNTIME], [PYTHON]))
    assert "product" in end.run.tracebacks


def test_inputs_with_a_state_behind_them_are_not_computed_again(tf, debugged, graph) -> None:
    counter = tf.get_variable("counter", initializer=0.0, use_resource=True)
    noise = tf.random_uniform([2, 3], name="noise")
    shape = tf.placeholder(tf.int32, name="shape")
    with tf.control_dependencies([counter.assign_add(1.0)]):
        bad = tf.raw_ops.Reshape(tensor=noise, shape=shape, name="bad")
    with tf.Session() as raw:
        raw.run(counter.initializer)
        session, front = debugged(raw, Continue())
        raised(tf, lambda: session.run(bad, {"shape:0": [7]}))
        assert raw.run(counter) == 1.0, "the step ran twice"
    error = front.ends[0].run.error
    assert error.node == "bad"
    assert "RandomUniform" in error.inputs_note
    assert len(front.ends[0].run.tensors) == 0


def test_an_uninitialized_variable_is_said_to_be_the_reason(tf, debugged, graph) -> None:
    w = tf.get_variable("w", [2], use_resource=True)
    with tf.Session() as raw:
        session, front = debugged(raw, RUNTIME, Continue())
        error = raised(tf, lambda: session.run(w + 1.0))
        assert isinstance(error, tf.errors.FailedPreconditionError)
        again, other = debugged(raw, Continue())
        raised(tf, lambda: again.run(w + 1.0))
    assert front.ends[0].run.error.type_name == "FailedPreconditionError"
    assert other.ends[0].run.error.inputs_note


def test_a_placeholder_that_was_not_fed(tf, debugged, failing) -> None:
    with tf.Session() as raw:
        raw.run(failing[2])
        session, front = debugged(raw, PYTHON)
        raised(tf, lambda: session.run(failing[1]))
    error = front.ends[0].run.error
    assert error.node == "x"
    assert "placeholder" in error.message


FULL_DISK = """
import tensorflow.compat.v1 as tf
from support.scripted import ScriptedFrontend
from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice
run = DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME))
with tf.Graph().as_default(), tf.Session() as raw:
    x = tf.placeholder(tf.float32, [None], name="x")
    counter = tf.get_variable("counter", initializer=0.0, use_resource=True)
    raw.run(counter.initializer)
    total = tf.reduce_sum(tf.exp(x))
    feed = {x: [0.0] * 5000}
    front = ScriptedFrontend(run, run, Detach())
    session = DebuggedSession(raw, Debugger(lambda: front))
    print(session.run(total + counter, feed), front.ends[0].run.notes[-1])
    try:
        session.run([total, counter.assign_add(1.0)], feed)
    except Exception as error:
        print(type(error).__name__, error)
    print(len(session.run([total, counter], feed)))
"""


def test_a_full_disk_costs_the_program_nothing_or_says_what_it_cost(tmp_path) -> None:
    """tensorflow#11628: a dump that could not be written ended the process."""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "TFDBG_DISK_BYTES_LIMIT": "4000"}
    tests = str(Path(__file__).parents[2])
    result = python("-c", f"import sys\nsys.path.insert(0, {tests!r})\n{FULL_DISK}", environ=environment)
    assert result.returncode == 0, result.stderr[-2000:]
    first, second, third = result.stdout.splitlines()
    assert first == "5000.0 TensorFlow could not write all dumps, so tensors are missing."
    assert second.startswith("TfdbgError TensorFlow could not write a dump")
    assert "updated in part" in second
    assert third == "2"
    assert result.stderr.count("tfdbg: ") == 1
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("tfdbg_")] == []


def test_the_end_of_the_data_ends_a_loop_as_ever(tf, debugged, graph) -> None:
    item = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    with tf.Session() as raw:
        session, front = debugged(raw, Continue())
        seen = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                seen.append(session.run(item))
    assert seen == [0, 1, 2]
    assert front.path == ["start 1"]
