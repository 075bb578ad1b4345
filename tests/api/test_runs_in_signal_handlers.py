"""What a signal handler of the program runs amid a watched run is made plainly, and waits for nothing of ours."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.api.process_debugger import process_debugger
from tfdbg_cli.capture import failures
from tfdbg_cli.capture.functions.calling.frame_reports import FrameReports
from tfdbg_cli.capture.runs.eager.watch import EagerWatch
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.process.own_frames import is_own

pytestmark = pytest.mark.tf


class Program:
    """A step that updates a variable, and `look`, which a handler runs: it reads that variable."""

    def __init__(self, step: Callable[[], Any], look: Callable[[], float]) -> None:
        self.step = step
        self.look = look


def _function() -> Program:
    weight = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        weight.assign_add(0.1 * x)
        return tf.math.log(weight)

    @tf.function
    def read() -> Any:
        return weight * 2.0

    reads, x = read.get_concrete_function(), tf.ones([])
    reads()
    return Program(lambda: step(x), lambda: float(reads()))


def _eager() -> Program:
    weight, x = tf.Variable(1.0), tf.ones([])

    def step() -> Any:
        weight.assign_add(0.1 * x)
        return tf.math.log(weight * 1.0)

    return Program(step, lambda: float(weight * 2.0))


def _session() -> Program:
    with tf.Graph().as_default():
        fed = tf.compat.v1.placeholder(tf.float32, [])
        weight = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.ones_initializer(), use_resource=True)
        with tf.control_dependencies([tf.math.log(tf.abs(fed) + weight)]):
            asked = weight.assign_add(0.1 * fed)
        read = weight * 2.0
        session = tf.compat.v1.Session()
        session.run(weight.initializer)
        session.run(read)
    return Program(lambda: session.run(asked, {fed: 1.0}), lambda: float(session.run(read)))


@contextmanager
def _handled(work: Callable[[], object]) -> Iterator[None]:
    """A context in which a signal has `work` done, unless it is being done."""
    under_way: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if not under_way:
            under_way.append(number)
            work()
            under_way.clear()

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


class _Signals:
    """A context in which a signal comes where functions of ours begin: at one in `every`, from the first on."""

    def __init__(self, every: int) -> None:
        self._every = every
        self.calls = 0

    def __enter__(self) -> _Signals:
        sys.settrace(self._traced)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _traced(self, frame: FrameType, event: str, _: object) -> None:
        if is_own(frame.f_code.co_filename):
            self.calls += 1
            if self.calls % self._every == 1:
                signal.raise_signal(signal.SIGUSR1)


@pytest.fixture(params=[_function, _eager, _session])
def program(request: pytest.FixtureRequest, front: ScriptedFrontend, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A program whose runs are all watched for NaN and infinities."""
    monkeypatch.setattr(failures, "_REMARKED", {})
    front.script = [RunUntil("has_inf_or_nan")]
    tf_debug.enable()
    made: Program = request.param()
    return made


def test_it_is_made_plainly_wherever_ours_is(program: Program, capfd: pytest.CaptureFixture[str]) -> None:
    """A blind test: where the handler's run is debugged as any other, it waits for a lock of its own thread."""
    seen: list[float] = []
    with _handled(lambda: seen.append(program.look())):
        for _ in range(12):  # past the runs that are tried
            with _Signals(every=23):
                program.step()
    assert len(seen) > 40
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(4.4, abs=0.21)  # of the last step the handler sees the end or the beginning
    told = capfd.readouterr().err
    assert "could not" not in told
    assert told.count("A signal handler of the program ran TensorFlow while tfdbg was at work") <= 1


def test_nothing_is_noted_of_it_among_the_ops_around(
    front: ScriptedFrontend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A blind test: a turn of a loop could end there, which asks for the lock that its own thread has."""
    front.script = [RunUntil("has_inf_or_nan")]
    tf_debug.enable()
    program, seen, noted = _function(), list[float](), list[str]()
    program.step()
    monkeypatch.setattr(EagerWatch, "function_gave", lambda watch, name, *_: noted.append(name))
    decide = Debugger._decide

    def interrupted(debugger: Debugger, *arguments: Any) -> Any:
        signal.raise_signal(signal.SIGUSR1)
        return decide(debugger, *arguments)

    def looked() -> None:
        with tf_debug.run("saving"):
            seen.append(program.look())

    monkeypatch.setattr(Debugger, "_decide", interrupted)
    with _handled(looked):
        for _ in range(3):
            program.step()
    assert len(seen) == 3
    assert len(noted) == 3, "the steps"


def test_it_is_made_plainly_amid_a_decision(
    program: Program, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blind test: the thread that decides holds the lock of the prompt."""
    decide, seen = Debugger._decide, []

    def interrupted(debugger: Debugger, *arguments: Any) -> Any:
        assert debugger.prompt.lock.locked()
        signal.raise_signal(signal.SIGUSR1)
        return decide(debugger, *arguments)

    program.step()
    monkeypatch.setattr(Debugger, "_decide", interrupted)
    before = process_debugger().debugger.run_count
    with _handled(lambda: seen.append(program.look())):
        for _ in range(3):
            program.step()
    assert seen
    assert process_debugger().debugger.run_count - before <= 3


def test_a_session_runs_while_checks_are_added_to_its_graph(
    front: ScriptedFrontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blind test: TensorFlow has a session wait for a thread that changes its graph, be it the same one."""
    front.script = [RunUntil("has_inf_or_nan")]
    tf_debug.enable()
    program = _session()
    seen: list[float] = []
    add = compat.pywrap_tf_session.TF_ImportGraphDefResultsReturnOperations

    def interrupted(results: Any) -> Any:
        signal.raise_signal(signal.SIGUSR1)
        return add(results)

    monkeypatch.setattr(compat.pywrap_tf_session, "TF_ImportGraphDefResultsReturnOperations", interrupted)
    with _handled(lambda: seen.append(program.look())):
        program.step()
    assert seen


@contextmanager
def _interrupted_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A context in which a signal comes wherever a graph is built of a GraphDef, and what its handler met."""
    imported, met = tf.graph_util.import_graph_def, list[str]()

    def interrupted(*arguments: Any, **keywords: Any) -> Any:
        signal.raise_signal(signal.SIGUSR1)
        return imported(*arguments, **keywords)

    with monkeypatch.context() as patched:
        patched.setattr(tf.graph_util, "import_graph_def", interrupted)
        with _handled(lambda: met.append("eager" if tf.executing_eagerly() else "in a graph")):
            yield met


@pytest.mark.parametrize("part", ["statistics", "session"])
def test_where_graphs_of_ours_are_built_it_is_eager(
    front: ScriptedFrontend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, part: str
) -> None:
    """A blind test: TensorFlow took what the handler ran for a part of that graph, and the program ended."""
    weight = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        return tf.math.log(weight.assign_add(x))

    session = _session()
    with _interrupted_imports(monkeypatch) as met:
        if part == "statistics":
            tf_debug.record(tmp_path / "r", every=1, stats_only=True)
            step(tf.ones([]))
        else:
            front.script = [RunUntil("has_inf_or_nan")]
            tf_debug.enable()
            session.step()
    assert met
    assert set(met) == {"eager"}


def test_what_calls_back_from_branches_is_registered_in_a_graph_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: as above."""
    registered, met = tf.py_function, list[bool]()

    def interrupted(*arguments: Any, **keywords: Any) -> Any:
        signal.raise_signal(signal.SIGUSR1)
        return registered(*arguments, **keywords)

    monkeypatch.setattr(tf, "py_function", interrupted)
    with _handled(lambda: met.append(tf.executing_eagerly())):
        assert FrameReports().token
    assert met == [True]
