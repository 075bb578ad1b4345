"""A program that catches an error itself sees of it what it would see without us."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.intercept.all_sessions import intercept_all_sessions
from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction
from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession
from tfdbg_cli.capture.pipeline import LEFT_CALL
from tfdbg_cli.capture.runs.eager.call import EagerCapture
from tfdbg_cli.capture.runs.eager.ops import OPS
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import Continue, DebugRun, RunUntil
from tfdbg_cli.process.own_frames import is_own

pytestmark = pytest.mark.tf
v1 = tf.compat.v1


def bad_index_in_a_session() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        index = v1.placeholder(tf.int32, [])
        session.run(tf.gather([1.0, 2.0], index), {index: 7})


def bad_feed() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        session.run(x + 1.0, {x: [1.0, 2.0, 3.0]})


def unknown_fetch() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        session.run("nothing:0")


def bad_index_in_a_runner() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        index = v1.placeholder(tf.int32, [])
        session.make_callable(tf.gather([1.0, 2.0], index), [index])(7)


def bad_index_in_a_monitored_session() -> None:
    with tf.Graph().as_default():
        index = v1.placeholder(tf.int32, [])
        picked = tf.gather([1.0, 2.0], index)
        with v1.train.MonitoredSession() as session:
            session.run(picked, {index: 7})


def bad_index_in_a_function() -> None:
    tf.function(lambda index: tf.gather([1.0, 2.0], index))(tf.constant(7))


def error_of_a_gradient_function() -> None:
    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        def gradient(slope: Any) -> Any:
            raise KeyError("no slope")

        return x * 2.0, gradient

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = doubled(x)
    tape.gradient(y, x)


def bad_index_in_eager_code() -> None:
    tf.gather(tf.Variable([1.0, 2.0]) * 2.0, [7])


def bad_batch_of_an_iterator() -> None:
    list(tf.data.Dataset.range(4).map(lambda i: 6 // (2 - i)))


def error_of_a_function_that_runs_eagerly() -> None:
    def failing(x: Any) -> Any:
        raise KeyError("by hand")

    tf.config.run_functions_eagerly(True)
    try:
        tf.function(failing)(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)


def bad_index_in_a_replica() -> None:
    tf.distribute.OneDeviceStrategy("cpu:0").run(lambda: tf.gather([1.0, 2.0], 7))


PROGRAMS = [
    bad_index_in_a_session, bad_feed, unknown_fetch, bad_index_in_a_runner, bad_index_in_a_monitored_session,
    bad_index_in_a_function, error_of_a_gradient_function, bad_index_in_eager_code, bad_batch_of_an_iterator,
    error_of_a_function_that_runs_eagerly, bad_index_in_a_replica,
]  # fmt: skip
DECISIONS = {"captured": DebugRun(), "left alone": Continue(), "watched": RunUntil("has_inf_or_nan")}


def seen(program: Callable[[], None]) -> list[traceback.FrameSummary]:
    """The calls that a program finds in the exception of `program`."""
    with pytest.raises(Exception) as caught:
        program()
    frames: list[traceback.FrameSummary] = list(traceback.extract_tb(caught.value.__traceback__))
    return frames


@pytest.fixture(params=DECISIONS)
def debugged_program(request, temporary_files) -> Iterator[ScriptedFrontend]:
    decision = DECISIONS[request.param]
    front = ScriptedFrontend(*[decision] * 9)
    debugger = Debugger(lambda: front)
    undo = [intercept_all_sessions(debugger), intercept_all_functions(debugger)]
    with v1.Session(graph=tf.Graph()) as session:
        session.run(tf.constant(1.0))  # a watch begins at the first run of all
    yield front
    for one in undo:
        one()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_none_of_our_calls_is_in_it(program, debugged_program) -> None:
    frames = seen(program)
    assert debugged_program.stops, "nothing was debugged"
    assert [frame for frame in frames if is_own(frame.filename)] == []
    assert frames[1].filename == __file__


@pytest.mark.parametrize("wrapped", ["session", "runner", "function", "callable"])
def test_nor_where_the_program_wrapped_what_it_calls(wrapped, temporary_files) -> None:
    debugger = Debugger(lambda: ScriptedFrontend(DebugRun(), DebugRun()))

    def program() -> None:
        if wrapped in ("function", "callable"):

            def pick(index: Any) -> Any:
                return tf.gather([1.0, 2.0], index)

            DebuggedFunction(tf.function(pick) if wrapped == "function" else pick, debugger)(tf.constant(7))
        else:
            with tf.Graph().as_default(), v1.Session() as raw:
                session = DebuggedSession(raw, debugger)
                index = v1.placeholder(tf.int32, [])
                picked = tf.gather([1.0, 2.0], index)
                if wrapped == "runner":
                    session.make_callable(picked, [index])(7)
                session.run(picked, {index: 7})

    assert [frame for frame in seen(program) if is_own(frame.filename)] == []


def test_the_call_that_an_exception_left_is_known_until_another_begins(debugged_program) -> None:
    with pytest.raises(ValueError, match="shape") as caught:
        bad_feed()
    left = LEFT_CALL.by(caught.value)
    assert left is not None
    assert LEFT_CALL.by(ValueError()) is None
    words = caught.value.args
    caught.value.args = ("another one, which Python put where the first had been",)
    assert LEFT_CALL.by(caught.value) is None
    caught.value.args = words
    with v1.Session(graph=tf.Graph()) as session:
        session.run(tf.constant(1.0))
    assert LEFT_CALL.by(caught.value) is None


class Hearing:
    """A listener of eager ops that has nothing to say."""

    forward_ops = None

    def begins(self, op_type: str, inputs: Any) -> None: ...

    def ran(self, op_type: str, inputs: Any, attributes: Any, outputs: Any, begun: Any) -> Any: ...

    def failed(self, op_type: str, inputs: Any, attributes: Any, begun: Any, message: str) -> None: ...


@pytest.mark.parametrize("program", [error_of_a_gradient_function, bad_index_in_eager_code])
def test_nor_where_eager_ops_are_heard(program) -> None:
    end = OPS.listen(Hearing())
    try:
        frames = seen(program)
    finally:
        end()
    assert [frame for frame in frames if is_own(frame.filename)] == []


class Ending(Hearing):
    """One at which the user decides to end the program, as an op begins or behind it."""

    def __init__(self, *, behind: bool) -> None:
        self._behind = behind

    def begins(self, op_type: str, inputs: Any) -> Any:
        if not self._behind:
            raise KeyboardInterrupt
        return op_type

    def ran(self, op_type: str, inputs: Any, attributes: Any, outputs: Any, begun: Any) -> Any:
        raise KeyboardInterrupt


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("slow", [False, True])
def test_nor_where_the_user_ends_a_program_at_an_eager_op(behind, slow) -> None:
    """A blind test: in another thread than the main one eight calls of ours stood in what `threading` prints."""
    one = tf.constant(1.0)
    run = tf.function(lambda: one) if slow else lambda: tf.negative(one)
    end = OPS.listen(Ending(behind=behind))
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            run()
    finally:
        end()
    assert [frame for frame in traceback.extract_tb(caught.tb) if is_own(frame.filename)] == []


class Wordless(Exception):  # noqa: N818
    """An exception of the program's that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("decision", DECISIONS.values(), ids=DECISIONS)
def test_an_exception_without_words_comes_out_as_it_is(decision, temporary_files, capfd) -> None:
    """A blind test: what `str` raised came out in its place."""
    raised = Wordless()

    def program(x: Any) -> Any:
        tf.math.log(x + 1.0)
        raise raised

    debugger = Debugger(lambda: ScriptedFrontend(*[decision] * 9))
    with pytest.raises(Wordless) as caught:
        DebuggedFunction(program, debugger)(tf.constant(1.0))
    assert caught.value is raised
    assert "could not" not in capfd.readouterr().err


@pytest.mark.parametrize("fails", [True, False])
def test_an_error_of_ours_behind_a_run_takes_the_place_of_nothing(fails, temporary_files, capfd, monkeypatch) -> None:
    """A blind test: whatever tfdbg asked of a capture then, its error came out in the place of the program's."""

    def failing(*_: object) -> Any:
        raise LookupError("a bug of ours")

    def program(x: Any) -> Any:
        tf.math.log(x + 1.0)
        if fails:
            raise KeyError("by hand")
        return x

    debugger = Debugger(lambda: ScriptedFrontend(*[RunUntil("has_inf_or_nan")] * 9))
    monkeypatch.setattr(EagerCapture, "passed", property(failing))
    monkeypatch.setattr(EagerCapture, "reported", property(failing))
    monkeypatch.setattr(debugger, "run_abandoned", failing)
    call = DebuggedFunction(program, debugger)
    if fails:
        with pytest.raises(KeyError, match="by hand"):
            call(tf.constant(1.0))
    else:
        assert call(tf.constant(1.0)) == 1.0
    assert "a bug of ours" in capfd.readouterr().err
