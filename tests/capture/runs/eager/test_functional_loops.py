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
from tfdbg_cli.capture.runs.eager.watch import EagerWatch
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun
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
