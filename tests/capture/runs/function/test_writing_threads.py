"""Threads that write one variable: a watch takes nothing from them when it makes a call once more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.capture import failures
from tfdbg_cli.capture.functions.exact.agreement import CallOutcome
from tfdbg_cli.capture.runs.function.plain_runs import PlainRuns
from tfdbg_cli.capture.runs.function.trials import Trials
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

    def effect(runs: PlainRuns, held: Any) -> CallOutcome:
        if doing:
            _in_a_thread(doing.pop(0))
        return real(runs, held)

    monkeypatch.setattr(PlainRuns, "effect", effect)
    failures._REMARKED.clear()
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


@pytest.fixture
def plain_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain calls leave a little more in each variable than watched ones."""
    real = PlainRuns.effect

    def effect(runs: PlainRuns, held: Any) -> CallOutcome:
        found = real(runs, held)
        return CallOutcome(found.outputs, {at: value + 1e-6 for at, value in found.variables.items()})

    monkeypatch.setattr(PlainRuns, "effect", effect)
    failures._REMARKED.clear()


@pytest.mark.usefixtures("plain_differs")
def test_a_thread_that_has_written_and_waits_keeps_nothing_from_being_put_right(watched) -> None:
    weight, count = tf.Variable(1.0), tf.Variable(0)
    begun, done = threading.Event(), threading.Event()

    @tf.function
    def add(x: Any) -> None:
        weight.assign_add(x)

    @tf.function
    def step() -> None:
        count.assign_add(1)

    def other() -> None:
        step()
        begun.set()
        done.wait()

    with watched(WATCH, Detach()):
        thread = threading.Thread(target=other)
        thread.start()
        begun.wait()
        try:
            add(tf.constant(0.5))
            assert weight.numpy() == np.float32(1.5) + np.float32(1e-6)
        finally:
            done.set()
            thread.join()


@pytest.mark.usefixtures("plain_differs")
def test_a_call_of_another_thread_waits_while_variables_are_put_right(watched, monkeypatch) -> None:
    weight = tf.Variable(1.0)
    real = Trials._set_right
    threads: list[threading.Thread] = []
    order: list[str] = []

    @tf.function
    def add(x: Any) -> None:
        weight.assign_add(x)

    def other() -> None:
        add(tf.constant(4.0))
        order.append("other")

    def set_right(trials: Trials, *arguments: Any) -> None:
        if not threads:
            threads.append(threading.Thread(target=other))
            threads[0].start()
            threads[0].join(0.2)  # it cannot end
        real(trials, *arguments)
        order.append("right")

    monkeypatch.setattr(Trials, "_set_right", set_right)
    with watched(WATCH, Detach()):
        add(tf.constant(0.0))
        threads[0].join()
        assert order[0] == "right"
        assert weight.numpy() >= 5.0
