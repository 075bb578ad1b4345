"""Ops that a tape runs are looked at some at a time: nothing of the program's can tell, and nothing is missed."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.runs.eager import deferred_ops
from tfdbg_cli.capture.runs.eager.deferred_ops import THREADS, DeferredOps, runs_program
from tfdbg_cli.capture.runs.eager.watch import EagerWatch
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.names import TensorName

pytestmark = pytest.mark.tf

_GO_ON = RunUntil("has_inf_or_nan")


class Watched:
    """A watch that goes on behind every hit."""

    def __init__(self) -> None:
        self.front = ScriptedFrontend(*[_GO_ON] * 50)
        self.debugger = Debugger(lambda: self.front)
        self.watch = EagerWatch(self.debugger)

    def begin(self) -> None:
        self.debugger.attendant = self.watch
        self.debugger.set_watch(_GO_ON)

    def end(self) -> None:
        self.debugger.attendant = None
        self.watch.attend(False)

    @property
    def found(self) -> list[str]:
        """The types of the ops that were stopped at."""
        return [_last(stop.run) for stop in self.front.ends]


def _last(run: Any) -> str:
    op_type: str = run.tensors[len(run.tensors) - 1].op_type
    return op_type


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched()
    yield made
    made.end()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many ops were shown at once, each time."""
    counts: list[int] = []
    show = EagerWatch._show

    def counted(self: EagerWatch, ops: Any) -> None:
        counts.append(len(ops))
        show(self, ops)

    monkeypatch.setattr(EagerWatch, "_show", counted)
    return counts


def _steps(gradient: Any, turns: int = 2, at: float = 0.0) -> list[Any]:
    w, found = tf.Variable(at), []
    for _ in range(turns):
        with tf.GradientTape() as tape:
            loss = gradient(w * 1.0)
        found.append(tape.gradient(loss, w))
        w.assign_sub(0.0)
    return found


def test_the_stop_shows_the_run_as_it_was_at_the_op(watched: Watched, shown: list[int]) -> None:
    there: dict[str, Any] = {}

    def look(stop: Any) -> Any:
        frame = next(one for one in stop.run.frames if one.place.function == "_steps")
        assert {one.place.function for one in stop.run.frames} >= {"gradient", "imperative_grad"}
        assert not any("contextlib" in one.place.file for one in stop.run.frames), "that is ours"
        there.update(frame.names, at=frame.place.text)
        return _GO_ON

    watched.front.script.insert(0, look)
    watched.begin()
    slopes = _steps(lambda x: tf.exp(tf.sqrt(x) * 2.0) + 1.0, 1)
    assert np.isinf(slopes[0].numpy())
    assert max(shown) > 1
    assert watched.found == ["SqrtGrad"], "and nothing behind it, though more ran before it was looked at"
    assert float(there["loss"]) == 2.0
    assert there["at"] == "found.append(tape.gradient(loss, w))" and "slopes" not in there


def test_what_the_tape_has_gone_on_from_cannot_be_changed(watched: Watched) -> None:
    refused: list[str] = []

    def change(stop: Any) -> Any:
        paused = stop.run.paused
        with pytest.raises(TfdbgError) as error:
            paused.replace(TensorName(paused.node, 0), np.float32(1))
        refused.append(str(error.value))
        return _GO_ON

    watched.front.script.insert(0, change)
    watched.begin()
    _steps(lambda x: tf.exp(tf.sqrt(x)), 1)
    assert len(refused) == 1 and "is not what the program is given next" in refused[0]


def test_python_of_the_program_finds_everything_looked_at(watched: Watched, shown: list[int]) -> None:
    seen: list[int] = []

    @tf.custom_gradient
    def own(x: Any) -> Any:
        def slope(upstream: Any) -> Any:
            seen.append(len(watched.front.ends))
            return upstream * 1.0

        return x * 1.0, slope

    watched.begin()
    _steps(lambda x: tf.exp(tf.sqrt(own(x))), 1)
    assert seen == [1], "the infinity was shown before"
    assert watched.found == ["SqrtGrad"]
    assert shown


def test_so_does_python_that_an_op_calls(watched: Watched) -> None:
    seen: list[int] = []

    @tf.custom_gradient
    def own(x: Any) -> Any:
        def slope(upstream: Any) -> Any:
            seen.append(len(watched.front.ends))
            return upstream

        return x * 1.0, slope

    watched.begin()
    _steps(lambda x: tf.exp(tf.sqrt(tf.py_function(own, [x], tf.float32))), 1)
    assert seen == [1]


def test_a_tape_that_is_older_than_the_watch_puts_nothing_off(watched: Watched, shown: list[int]) -> None:
    w = tf.Variable(0.0)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.exp(tf.sqrt(w * 1.0))
    watched.begin()
    for _ in range(2):
        tf.identity(w * 1.0)
        tape.gradient(loss, w)
    assert not shown
    assert watched.found[0] == "SqrtGrad"


def test_nor_does_a_thread_whose_ops_somebody_else_hears_of(watched: Watched, shown: list[int]) -> None:
    def heard(*_: Any, **__: Any) -> None:
        return None

    watched.begin()
    compat.eager_context().add_op_callback(heard)
    try:
        _steps(tf.exp)
    finally:
        compat.eager_context().remove_op_callback(heard)
    assert not shown
    _steps(tf.exp)
    assert shown


def test_gradients_that_may_call_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred_ops, "_RUNS_PROGRAM", {})
    assert not runs_program("MatMul")
    assert not runs_program("ZerosLike")  # has none
    assert runs_program("EagerPyFunc")
    assert runs_program("NoSuchOp")
    monkeypatch.setattr(compat, "registered_gradient", lambda _: lambda op, slope: slope)
    assert runs_program("Tanh")


def test_an_error_in_a_tape_comes_behind_what_was_found_before_it(watched: Watched) -> None:
    @tf.custom_gradient
    def fails(x: Any) -> Any:
        def slope(_: Any) -> Any:
            raise ValueError("no slope")

        return x * 1.0, slope

    watched.begin()
    with pytest.raises(ValueError, match="no slope"):
        _steps(lambda x: tf.exp(tf.sqrt(fails(x))), 1)
    assert watched.found == ["SqrtGrad"]
    assert not THREADS.here.allowed and not THREADS.here.is_open and not THREADS.here.ops


def test_tapes_in_tapes(watched: Watched, shown: list[int]) -> None:
    w = tf.Variable(2.0)
    watched.begin()
    for _ in range(2):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.exp(w) * w
            first = inner.gradient(y, w)
        second = outer.gradient(first, w)
        w.assign_sub(0.0)
    assert float(second) == pytest.approx(4 * np.exp(2.0))
    assert max(shown) > 1
    assert not watched.found


def test_no_more_is_held_than_there_is_room_for(watched: Watched, shown: list[int]) -> None:
    watched.begin()
    large = tf.ones([300, 1000])

    def through(x: Any) -> Any:
        x = x * large
        for _ in range(20):
            x = tf.tanh(x)
        return tf.reduce_sum(x)

    _steps(through)
    assert 1 < max(shown) <= 10


def test_nothing_is_held_afterwards(watched: Watched) -> None:
    watched.begin()
    w = tf.Variable(1.0)
    kept: list[Any] = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = tf.tanh(tf.tanh(w * 1.0))
        slope = tape.gradient(y, w)
        kept = [weakref.ref(y), weakref.ref(slope)]
        w.assign_sub(0.0)
    del tape, y, slope
    assert [one() for one in kept] == [None, None]
    here = THREADS.here
    assert isinstance(here, DeferredOps) and not here.ops
