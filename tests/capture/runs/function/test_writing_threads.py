"""Threads that write one variable: a watch takes nothing from them when it makes a call once more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.capture.failures import remark
from tfdbg_cli.capture.functions.exact.agreement import Effect
from tfdbg_cli.capture.runs.function.plain_runs import PlainRuns
from tfdbg_cli.model.decision import Detach, RunUntil

pytestmark = pytest.mark.tf
WATCH = RunUntil("bad_result")


def _in_a_thread(call: Callable[[], object]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@pytest.fixture
def during_trials(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What other threads do, one call after the other, while calls are made once more to compare them."""
    doing: list[Callable[[], object]] = []
    real = PlainRuns.effect

    def effect(runs: PlainRuns, held: Any) -> Effect:
        if doing:
            _in_a_thread(doing.pop(0))
        return real(runs, held)

    monkeypatch.setattr(PlainRuns, "effect", effect)
    remark.cache_clear()
    return doing


def test_what_another_thread_adds_during_a_trial_is_not_taken_back(watched, during_trials, capsys) -> None:
    """Of 20 updates by two threads two or three were lost."""
    weight = tf.Variable([0.0, 0.0])

    @tf.function
    def add(at: Any) -> None:
        weight.scatter_nd_add([[at]], [1.0])

    with watched(WATCH, Detach()) as front:
        during_trials += [lambda: add(tf.constant(1)), lambda: add(tf.constant(1))]
        for _ in range(4):
            add(tf.constant(0))
        assert weight.numpy().tolist() == [4.0, 2.0]
        weight.scatter_nd_update([[0]], [np.nan])
        add(tf.constant(1))
    assert "other last digits" not in capsys.readouterr().err
    (end,) = front.ends
    assert end.run.exactness is not None and end.run.exactness.exact, end.run.exactness


def test_a_program_whose_threads_write_all_the_time_is_not_compared(watched, during_trials, capsys) -> None:
    weight = tf.Variable([0.0, 0.0])

    @tf.function
    def add(at: Any) -> None:
        weight.scatter_nd_add([[at]], [1.0])

    with watched(WATCH, Detach()) as front:
        for _ in range(40):
            during_trials.append(lambda: add(tf.constant(1)))
            add(tf.constant(0))
        others = 40 - len(during_trials)
        assert 40 > others > 2 and weight.numpy().tolist() == [40.0, others]
        weight.scatter_nd_update([[0]], [np.nan])
        during_trials.clear()
        add(tf.constant(1))
    assert "other last digits" not in capsys.readouterr().err
    (end,) = front.ends
    assert end.run.exactness is not None and end.run.exactness.exact, "proven by its compiled graph"


def test_with_a_thread_that_may_write_a_difference_is_told_and_nothing_is_put_back(watched, monkeypatch) -> None:
    weight = tf.Variable(1.0)
    real, done = PlainRuns.effect, threading.Event()

    def effect(runs: PlainRuns, held: Any) -> Effect:
        found = real(runs, held)
        return Effect(found.outputs, {at: value + 1e-6 for at, value in found.variables.items()})

    monkeypatch.setattr(PlainRuns, "effect", effect)
    remark.cache_clear()

    @tf.function
    def add(x: Any) -> Any:
        weight.assign_add(x)
        return tf.math.log(weight)

    def other() -> None:
        add(tf.constant(0.0))
        begun.set()
        done.wait()

    begun = threading.Event()
    with watched(WATCH, Detach()) as front:
        thread = threading.Thread(target=other)
        thread.start()
        begun.wait()
        before = weight.numpy()
        try:
            add(tf.constant(0.5))
            assert weight.numpy() == before + np.float32(0.5)
        finally:
            done.set()
            thread.join()
        add(tf.constant(-5.0))
    (end,) = front.ends
    assert end.run.exactness is not None
