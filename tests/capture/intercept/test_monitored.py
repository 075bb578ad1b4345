"""Monitored sessions, wrapped or given a hook: stopped before other hooks see what came out."""

from __future__ import annotations

import numpy as np
import pytest
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.monitored import RawSessionHook
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, Detach, GraphChoice, RunUntil
from tfdbg_cli.model.runs import RunEnd

pytestmark = pytest.mark.tf

RUNTIME = DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME))
PYTHON = DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))


@pytest.fixture
def training(tf, graph):
    """A step that turns NaN at the fourth run."""
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=3.0, use_resource=True)
    loss = tf.log(w, name="loss")
    with tf.control_dependencies([loss]):
        train = tf.group(w.assign_sub(1.0), step.assign_add(1))
    return loss, train


def run_all(tf, session, training, most: int = 10) -> list[float]:
    loss, train = training
    seen = []
    while not session.should_stop() and len(seen) < most:
        seen.append(float(session.run([loss, train])[0]))
    return seen


def test_a_hook_stops_before_the_nan_hook_raises(tf, temporary_files, training) -> None:
    """tensorflow#25395, #15105: the debugger crashed if there was a NaN in the loss, the one time it was needed."""
    front = ScriptedFrontend(RunUntil("has_inf_or_nan"), Continue())
    hooks = [tf.train.NanTensorHook(training[0]), RawSessionHook(Debugger(lambda: front))]
    with (
        pytest.raises(tf.train.NanLossDuringTrainingError),
        tf.train.MonitoredTrainingSession(hooks=hooks) as session,
    ):
        run_all(tf, session, training)
    assert front.path == ["start 1", "end 4"]
    end = front.ends[0]
    assert end.hit.runs == 4
    assert end.run.call.fetches[0] == "loss:0"
    assert np.isneginf(end.run.tensors.value(end.run.tensors.named("loss")[0]))
    assert not list(temporary_files.iterdir())


@pytest.mark.parametrize("decision", [RUNTIME, PYTHON, RunUntil("has_inf_or_nan"), Detach()])
def test_a_wrapped_monitored_session_trains_alike(tf, debugged, training, tmp_path, decision) -> None:
    def losses(wrap) -> list[float]:
        hooks = [tf.train.StopAtStepHook(last_step=3)]
        folder = str(tmp_path / f"checkpoints{wrap is None}")
        with tf.train.MonitoredTrainingSession(hooks=hooks, checkpoint_dir=folder) as monitored:
            session = wrap(monitored) if wrap else monitored
            assert isinstance(session, tf.train.MonitoredSession)
            assert session.graph is tf.get_default_graph()
            return run_all(tf, session, training)

    plain = losses(None)
    fronts = []

    def wrap(monitored):
        session, front = debugged(monitored, decision)
        fronts.append(front)
        return session

    assert losses(wrap) == plain
    assert len(plain) == 3
    assert fronts[0].stops[0].call.fetches[0] == "loss:0"
    assert training[1].name in fronts[0].stops[0].call.targets


def test_the_wrapper_is_a_context_and_leaves_the_raw_session_as_it_was(tf, debugged, training) -> None:
    inner = tf.train.SingularMonitoredSession()
    session, front = debugged(inner, RUNTIME)
    with session as entered:
        assert entered is session
        raw = session.raw_session()
        assert session.run(training[0]) == np.float32(np.log(np.float32(3.0)))
        assert "run" in vars(raw)
    assert "run" not in vars(raw)
    assert front.path == ["start 1", "end 1"]


def test_runs_of_hooks_are_not_debugged(tf, temporary_files, training, tmp_path) -> None:
    class Busy(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values) -> None:
            run_context.session.run(training[0])

    front = ScriptedFrontend(DebugRun(), DebugRun(), DebugRun(), Detach())
    hooks = [Busy(), RawSessionHook(Debugger(lambda: front))]
    with tf.train.MonitoredTrainingSession(
        hooks=hooks, checkpoint_dir=str(tmp_path), save_checkpoint_steps=1, save_summaries_steps=1
    ) as session:
        run_all(tf, session, training, most=3)
    assert front.path == ["start 1", "end 1", "end 2", "end 3"]


def test_run_step_fn_is_debugged_by_its_run_with_hooks(tf, debugged, training) -> None:
    with tf.train.MonitoredSession() as monitored:
        session, front = debugged(monitored, RUNTIME, RUNTIME)

        def step(step_context):
            step_context.session.run(training[0])
            return step_context.run_with_hooks(training[0])

        session.run_step_fn(step)
    assert front.path == ["start 1", "end 1"]


def test_a_hook_opens_the_error_screen(tf, temporary_files, graph) -> None:
    """TensorFlow's tfdbg: the hook showed no error of an op."""
    x = tf.placeholder(tf.float32, [None, None], name="x")
    product = tf.matmul(x, tf.ones([3, 1]), name="product")
    for decision in (RUNTIME, PYTHON, Continue()):
        front = ScriptedFrontend(decision)
        hook = RawSessionHook(Debugger(lambda: front))  # noqa: B023
        with pytest.raises(tf.errors.InvalidArgumentError), tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(product, {x: [[1.0]]})
        end = front.stops[-1]
        assert isinstance(end, RunEnd)
        assert end.run.error.node == "product"


def test_a_session_made_anew_after_a_lost_worker_is_debugged_too(tf, debugged, graph) -> None:
    y = tf.constant(1.0)
    lost = [True]

    class Flaky(tf.train.SessionRunHook):
        def before_run(self, run_context) -> None:
            if lost:
                lost.pop()
                raise tf.errors.AbortedError(None, None, "the worker went away")

    with tf.train.MonitoredSession(hooks=[Flaky()]) as monitored:
        session, front = debugged(monitored, DebugRun())
        assert session.run(y) == 1.0
    assert front.path == ["start 1", "end 1"]
