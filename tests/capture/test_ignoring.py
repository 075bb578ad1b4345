"""`ignore` at a false stop: functions, sessions and eager code run on, and stop at what is wrong besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.prompt import Prompt
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import Decision, Detach, RunUntil
from tfdbg_cli.model.runs import Stop

pytestmark = pytest.mark.tf


def _saying(command: str, seen: list[str]) -> Callable[[Stop], Decision]:
    """At a stop, note where it began, and go on with what `command` decides."""

    def decide(event: Stop) -> Decision:
        prompt = Prompt(event)
        seen.append(str(prompt.data("origin")["op_type"]))
        decision = prompt.run(command)
        assert isinstance(decision, Decision)
        return decision

    return decide


def _detach(seen: list[str]) -> Callable[[Stop], Decision]:
    def decide(event: Stop) -> Decision:
        seen.append(str(Prompt(event).data("origin")["op_type"]))
        return Detach()

    return decide


@pytest.mark.parametrize("name", ["has_inf_or_nan", "bad_result", "has_inf"])
@pytest.mark.parametrize("command", ["ignore --go", "ignore --cause --go"])
def test_a_function(watched: Any, name: str, command: str) -> None:
    @tf.function
    def step(x: Any, late: Any) -> Any:
        low = tf.math.log(x) * 2.0
        return tf.reduce_sum(tf.where(x > 0, low, 0.0)), low, 1.0 / late

    seen: list[str] = []
    with watched(RunUntil(name), _saying(command, seen), _detach(seen)) as front:
        results = [step(tf.constant([0.0, 2.0]), tf.constant(5.0 - number)) for number in range(6)]
    assert [end.run.call.number for end in front.ends] == [1, 6]
    assert seen == ["Log", "RealDiv"]
    assert float(results[0][0]) == pytest.approx(2 * np.log(2.0))


@pytest.mark.parametrize("name", ["has_inf_or_nan", "bad_result"])
@pytest.mark.parametrize("command", ["ignore --go", "ignore --layer attention --go"])
def test_a_session(name: str, command: str) -> None:
    from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession

    tf1 = tf.compat.v1
    seen: list[str] = []
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [2], "x")
        late = tf1.placeholder(tf.float32, [], "late")
        with tf1.name_scope("attention"):
            low = tf.math.log(x, name="low") * 2.0
        fetches = [tf.reduce_sum(tf.where(x > 0, low, tf.zeros_like(low))), low, tf.divide(1.0, late, name="one")]
        front = ScriptedFrontend(RunUntil(name), _saying(command, seen), _detach(seen))
        debugger = Debugger(lambda: front)
        with DebuggedSession(tf1.Session(), debugger) as session:
            for number in range(6):
                session.run(fetches, {x: [0.0, 2.0], late: 5.0 - number})
    assert [end.run.call.number for end in front.ends] == [1, 6]
    assert seen == ["Log", "RealDiv"]


def test_a_variable_that_was_spoilt_by_what_is_ignored_follows_from_it(watched: Any) -> None:
    """In the runs to come it is bad before anything was computed: that is no other fault."""
    spoilt, sound = tf.Variable(tf.ones([2])), tf.Variable(tf.ones([2]))

    @tf.function
    def step(x: Any, late: Any) -> Any:
        doubled = tf.reduce_sum(spoilt * 2.0)
        spoilt.assign_add(tf.math.log(x))
        sound.assign_sub(0.1 * sound)
        return doubled, tf.reduce_sum(sound) / late

    seen: list[str] = []
    told: list[Any] = []

    def last(event: Stop) -> Decision:
        told.extend(Prompt(event).data("ignored")["ignored"])
        return _detach(seen)(event)

    with watched(RunUntil("has_inf_or_nan"), _saying("ignore --go", seen), last) as front:
        for number in range(6):
            step(tf.constant([0.0, 2.0]), tf.constant(5.0 - number))
    assert [end.run.call.number for end in front.ends] == [1, 6]
    assert seen == ["Log", "RealDiv"]
    assert len(told) == 1 and len(told[0]["spoiled"]) == 1


@pytest.mark.parametrize("resource", [True, False])
def test_a_variable_of_a_session_that_was_spoilt_by_what_is_ignored_follows_from_it(resource: bool) -> None:
    from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession

    tf1 = tf.compat.v1
    seen: list[str] = []
    with tf.Graph().as_default():
        late = tf1.placeholder(tf.float32, [], "late")
        spoilt = tf1.get_variable("spoilt", initializer=[1.0, 1.0], use_resource=resource)
        doubled = tf.reduce_sum(spoilt * 2.0, name="doubled")
        with tf.control_dependencies([doubled]):
            update = tf1.assign_add(spoilt, tf.math.log([0.0, 2.0] * late, name="low"))
        front = ScriptedFrontend(RunUntil("has_inf_or_nan"), _saying("ignore --go", seen), _detach(seen))
        with DebuggedSession(tf1.Session(), Debugger(lambda: front)) as session:
            session.run(tf1.global_variables_initializer())
            fetches = [update.op, doubled, tf.divide(1.0, late - 1.0, name="one")]
            for number in range(5):
                session.run(fetches, {late: 5.0 - number})
    assert seen == ["Log", "RealDiv"]


@contextmanager
def _watching(filter_name: str, *script: Callable[[Stop], Decision]) -> Iterator[ScriptedFrontend]:
    """Eager code in this process, watched from the start."""
    front = ScriptedFrontend(*script)
    debugger = Debugger(lambda: front)
    watch = watch_of(debugger)
    debugger.attendant = watch
    debugger.set_watch(RunUntil(filter_name))
    try:
        yield front
    finally:
        debugger.attendant = None
        watch.attend(False)


@pytest.mark.parametrize("command", ["ignore --go", "ignore --cause --go"])
def test_eager_code(command: str) -> None:
    seen: list[str] = []
    variable = tf.Variable([0.0, 0.0])
    with _watching("has_inf_or_nan", _saying(command, seen), _detach(seen)) as front:
        for number in range(6):
            x = tf.constant([0.0, 2.0])
            low = tf.math.log(x) * 2.0
            variable.assign(low)
            tf.reduce_sum(variable + 1.0)
            tf.constant(1.0) / tf.constant(5.0 - number)
    assert len(front.ends) == 2
    assert seen == ["Log", "RealDiv"]


def test_nan_made_of_an_ignored_infinity_stops_eager_code() -> None:
    seen: list[str] = []
    with _watching("has_inf_or_nan", _saying("ignore --go", seen), _detach(seen)):
        for number in range(4):
            low = tf.math.log(tf.constant([0.0, 2.0]))
            low * tf.constant([1.0 if number < 3 else 0.0, 1.0])
    assert seen == ["Log", "Mul"]


def test_updates_of_eager_code() -> None:
    """bad_result looks at what updates are given, and not at each op."""
    seen: list[str] = []
    variable = tf.Variable([0.0, 0.0])
    with _watching("bad_result", _saying("ignore --go", seen), _detach(seen)) as front:
        for number in range(6):
            low = tf.math.log(tf.constant([0.0, 2.0]))
            variable.assign(low)
            variable.assign([1.0 / (5.0 - number) if number < 5 else np.inf, 1.0])
    assert len(front.ends) == 2
    assert seen[0] == "Log"


def test_what_is_read_from_a_variable_behind_an_ignored_update_is_no_origin(watched: Any) -> None:
    slow, weights = tf.Variable(tf.zeros([3])), tf.Variable(tf.ones([3]))

    @tf.function
    def step(x: Any) -> Any:
        slow.assign_add(tf.math.log(x))
        weights.assign_sub(0.1 * slow)
        return tf.reduce_sum(weights)

    seen: list[Any] = []

    def decide(event: Stop) -> Decision:
        prompt = Prompt(event)
        seen.append(prompt.data("origin")["op_type"])
        prompt.document("ignore")
        seen.append(prompt.data("origin")["op_type"])
        return Detach()

    with watched(RunUntil("has_inf_or_nan"), decide):
        step(tf.constant([1.0, 2.0, 0.0]))
    assert seen == ["Log", None]
