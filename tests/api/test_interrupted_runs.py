"""What a signal handler of the program raises amid a watched run reaches the program, wherever ours is just then."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import CO_GENERATOR
from types import FrameType
from typing import Any

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.process.own_frames import is_own

pytestmark = pytest.mark.tf


class OutOfTime(Exception):  # noqa: N818
    """What a handler raises."""


class _Interrupted:
    """A context in which an exception comes where a function of ours begins, as out of a signal handler.

    Python runs handlers there, among other places. A trace function is called as a handler is, with the frame that it
    interrupts, and at a place that can be chosen: `at` counts calls. What leaves a context is left out.
    """

    def __init__(self, at: int = -1) -> None:
        self._at = at
        self.calls = 0

    def __enter__(self) -> _Interrupted:
        sys.settrace(self._traced)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _traced(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if is_own(code.co_filename) and code.co_name != "__exit__" and not code.co_flags & CO_GENERATOR:
            self.calls += 1
            if self.calls == self._at:
                raise OutOfTime


def _came_out(step: Callable[[], Any], at: int) -> bool | None:
    """Whether an exception at call `at` of ours came out of `step`; None if there were fewer calls."""
    moment = _Interrupted(at)
    try:
        with moment:
            step()
    except OutOfTime:
        return True
    return False if moment.calls >= at else None


def _calls_in(step: Callable[[], Any]) -> int:
    with _Interrupted() as whole:
        step()
    return whole.calls


def _function() -> Callable[[], Any]:
    weight = tf.Variable(tf.eye(4))

    @tf.function
    def step(x: Any) -> Any:
        weight.assign_add(0.1 * x)
        return tf.reduce_sum(tf.math.log(tf.abs(x @ weight) + 1.0))

    x = tf.ones([4, 4])
    return lambda: step(x)


def _eager() -> Callable[[], Any]:
    weight, x = tf.Variable(tf.eye(4)), tf.ones([4, 4])

    def step() -> Any:
        weight.assign_add(0.1 * x)
        return tf.reduce_sum(tf.math.log(tf.abs(x @ weight) + 1.0))

    return step


def _session() -> Callable[[], Any]:
    with tf.Graph().as_default():
        fed = tf.compat.v1.placeholder(tf.float32, [2])
        variable = tf.compat.v1.get_variable("w", [2], initializer=tf.compat.v1.ones_initializer(), use_resource=True)
        with tf.control_dependencies([tf.math.log(tf.abs(fed) + variable)]):
            asked = variable.assign_add(0.1 * fed)
        session = tf.compat.v1.Session()
        session.run(variable.initializer)
    return lambda: session.run(asked, {fed: [1.0, 2.0]})


@pytest.fixture(params=[_function, _eager, _session])
def build(request: pytest.FixtureRequest, front: ScriptedFrontend) -> Any:
    """What makes a step of a kind; all runs are watched for NaN and infinities."""
    front.script = [RunUntil("has_inf_or_nan")]
    tf_debug.enable()
    return request.param


def test_a_watched_run_lets_it_through(build: Any, capfd: pytest.CaptureFixture[str]) -> None:
    step = build()
    for _ in range(12):  # past the runs that are tried
        step()
    calls = _calls_in(step)
    came = [_came_out(step, at) for at in range(1, calls, max(calls // 60, 1))]
    assert came.count(True) > 20
    assert False not in came
    step()
    assert "could not" not in capfd.readouterr().err


def test_so_does_the_first_run_in_which_all_is_prepared(build: Any, capfd: pytest.CaptureFixture[str]) -> None:
    build()()
    calls = _calls_in(build())
    came = [_came_out(build(), at) for at in range(1, calls, max(calls // 20, 1))]
    assert came.count(True) > 8
    assert False not in came
    assert "could not" not in capfd.readouterr().err
