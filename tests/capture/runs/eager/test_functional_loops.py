"""Loops in which functions are called: these are the runs, and the turns are where no function is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

import tfdbg_cli
from tfdbg_cli.api.process_debugger import process_debugger
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.runs.eager.watch import EagerWatch, watch_of
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun, RunUntil
from tfdbg_cli.model.runs import RunEnd

pytestmark = pytest.mark.tf
_BATCHES = [np.full((2, 3), 1.0 + turn, np.float32) for turn in range(4)]


@pytest.fixture(autouse=True)
def _undebugged() -> Iterator[None]:
    yield
    tfdbg_cli.disable()
    process_debugger.cache_clear()


def _kinds(path: Path, program: Callable[[], None]) -> list[str]:
    """Of which kind the runs are that `program` makes."""
    with tfdbg_cli.record(path, every=1):
        program()
    return [run.call.kind.value for run in tfdbg_cli.open_recording(path).runs] if path.exists() else []


def _step() -> Callable[[Any], Any]:
    weight = tf.Variable(np.ones((3, 2), np.float32))

    def step(batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(tf.matmul(batch, weight)))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    return step


def _train(steps: list[Callable[[Any], Any]]) -> None:
    for turn, batch in enumerate(_BATCHES):
        steps[turn % len(steps)](tf.constant(batch))


def test_a_loop_that_ran_functions_and_runs_eagerly_now(tmp_path: Path) -> None:
    """As who compares both in one process does, or calls `run_functions_eagerly`."""
    function, eager = tf.function(_step()), _step()
    assert _kinds(tmp_path / "eager", lambda: _train([eager])) == ["eager"] * 4
    assert _kinds(tmp_path / "function", lambda: _train([function])) == ["tf.function"] * 4
    assert _kinds(tmp_path / "again", lambda: _train([eager])) == ["eager"] * 3  # the first one shows it


def test_eager_code_beside_a_function_is_no_run(tmp_path: Path) -> None:
    function, weight = tf.function(_step()), tf.Variable(2.0)

    def beside(batch: Any) -> Any:
        scaled = batch * weight
        loss = function(scaled)
        return loss + weight

    def behind(batch: Any) -> Any:
        loss = function(batch)
        return loss * weight

    kinds = _kinds(tmp_path / "beside", lambda: _train([beside]))
    assert sorted(kinds) == ["eager"] + ["tf.function"] * 4  # before the first call nobody knows
    for name, step in (("behind", behind), ("later", beside)):
        assert _kinds(tmp_path / name, partial(_train, [step])) == ["tf.function"] * 4


def _late_step() -> Callable[[Any], Any]:
    """A step that makes its variable in its first call, as layers of Keras and optimizers do."""
    made: list[tf.Variable] = []

    @tf.function
    def step(batch: Any) -> Any:
        if not made:
            made.append(tf.Variable(tf.random.normal([3, 2])))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(tf.matmul(batch, made[0])))
        made[0].assign_sub(0.1 * tape.gradient(loss, made[0]))
        return loss

    return step


def _in_a_loop(one: Callable[[int], Any]) -> None:
    for turn in range(4):
        one(turn)


def _as_function_alone(one: Callable[[int], Any]) -> None:
    _in_a_loop(one)


def _in_a_comprehension(one: Callable[[int], Any]) -> None:
    [one(turn) for turn in range(4)]


def _by_map(one: Callable[[int], Any]) -> None:
    list(map(one, range(4)))


def _where_the_first_turn_does_more(one: Callable[[int], Any]) -> None:
    ones = tf.Variable(1.0)
    for turn in range(4):
        if turn == 0:
            ones.assign(ones * 2.0)
        one(turn)


@pytest.mark.parametrize(
    "loop", [_in_a_loop, _as_function_alone, _in_a_comprehension, _by_map, _where_the_first_turn_does_more]
)
def test_what_functions_were_given_is_not_held_beyond_their_turn(loop: Any) -> None:
    """A blind test: nothing told where a turn ends, and each batch was held until the program ended."""
    step = _late_step()
    concrete: list[Any] = []
    held = []

    def one(turn: int) -> None:
        batch = tf.constant(_BATCHES[turn])
        if loop is _as_function_alone:
            concrete.append(concrete[0] if concrete else step.get_concrete_function(batch))
            concrete[0](batch)
        else:
            step(batch)
        section = watch._sections.here.section
        held.append(0 if section is None else sum("step" in op.op_type for op in section.log.ops()))

    debugger = Debugger(lambda: ScriptedFrontend(), settings=Settings())
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(RunUntil("bad_result"))
    end = intercept_all_functions(debugger)
    try:
        loop(one)
    finally:
        end()
        watch.end()
        watch.attend(False)
    assert held == [1] * 4, "calls of the function in what is looked at"


def test_what_makes_a_concrete_function_is_no_run(tmp_path: Path) -> None:
    """Its variables are made eagerly: the first turn was a run beside that of the function in it."""
    step, made = _late_step(), []

    def one(batch: Any) -> Any:
        made.append(made[0] if made else step.get_concrete_function(batch))
        return made[0](batch)

    assert _kinds(tmp_path / "runs", lambda: _train([one])) == ["tf.function"] * 4


def test_captured_code_before_a_loop_is_over_where_the_loop_calls_a_function() -> None:
    """As where slots of an optimizer are made of the weights: the calls that come then are runs to capture, too."""
    function, weight = tf.function(_step()), tf.Variable(2.0)
    front = ScriptedFrontend(*[DebugRun()] * 7)
    debugger = Debugger(lambda: front, settings=Settings())
    debugger.attendant = watch = EagerWatch(debugger)
    end = intercept_all_functions(debugger)
    try:
        debugger.stop_next()
        slot = tf.zeros_like(weight) + 1.0
        for _ in range(3):
            function(_BATCHES[0])
        watch.end()
    finally:
        end()
        watch.attend(False)
    assert float(slot) == 1.0
    assert front.path == ["start 1", "end 1", "end 2", "end 3", "end 4"]
    kinds = [stop.run.call.kind.value for stop in front.stops if isinstance(stop, RunEnd)]
    assert kinds == ["eager"] + ["tf.function"] * 3


def test_turns_that_only_call_functions_are_counted(tmp_path: Path) -> None:
    """A blind test: TensorFlow's first call of a function takes another way than those behind it.

    Its stack did not come again, and so no turn was told from the one before.
    """
    function, eager = tf.function(_step()), _step()
    with tfdbg_cli.record(tmp_path / "runs", every=1):
        for turn in range(7):
            if turn >= 4:
                eager(_BATCHES[0])
            else:
                function(_BATCHES[0])
    runs = tfdbg_cli.open_recording(tmp_path / "runs").runs
    titles = [run.call.title for run in runs if run.call.kind.value == "eager"]
    assert [title.partition(" of ")[0] for title in titles] == ["run #5: turn 6", "run #6: turn 7"]
