"""Watched calls that keep their values: the program's own numbers are proven, tried, or said not to be sure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture import failures
from tfdbg_cli.capture.functions.calling.instrumented import Instrumented
from tfdbg_cli.capture.functions.exact import proof as proof_module
from tfdbg_cli.capture.functions.exact.agreement import CallOutcome
from tfdbg_cli.capture.functions.optimized.grafted import CannotBeGrafted
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.runs.function.plain_runs import PlainRuns
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil, Values
from tfdbg_cli.model.exactness import ExecutionWay

pytestmark = pytest.mark.tf


@contextmanager
def _keeping(*decisions: Any) -> Iterator[tuple[Debugger, ScriptedFrontend]]:
    front = ScriptedFrontend(*decisions or [RunUntil("has_inf_or_nan", values=Values.KEEP)])
    debugger = Debugger(lambda: front)
    undo = intercept_all_functions(debugger)
    try:
        yield debugger, front
    finally:
        undo()


def _seen(debugger: Debugger) -> str:
    assert debugger.active_watch is not None
    return debugger.active_watch.seen_in_words(0)


def _clipped(weight: Any) -> Any:
    """A step in which TensorFlow merges products otherwise when one of them is given back."""

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.log(tf.nn.silu(x @ weight) ** 2 + x[0, 0]))
        weight.assign_sub(0.1 * tf.clip_by_norm(tape.gradient(loss, weight), 1.0))
        return loss

    return step


def test_the_ops_are_those_of_the_plain_function_with_all_values_given_back() -> None:
    weight = tf.Variable(np.linspace(-1, 1, 16).reshape(4, 4).astype(np.float32))
    step = _clipped(weight)
    with _keeping() as (debugger, front):
        step(tf.ones([2, 4]))
        assert _seen(debugger) == "Nothing passed has_inf_or_nan in 1 run."
        step(-9 * tf.ones([2, 4]))
    (end,) = front.ends
    exactness = end.run.exactness
    assert exactness is not None
    assert (exactness.way, exactness.program_exact) == (ExecutionWay.PROVEN, True), exactness.sentence
    assert all(len(end.run.tensors.named(name)) for name in ("Log", "clip_by_norm/mul", "clip_by_norm/truediv"))


def cannot_be_grafted(*_: Any, **how: Any) -> Any:
    raise CannotBeGrafted


@pytest.fixture
def other_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    """No way to give values back leaves the ops of a function as they are."""
    real = proof_module.compared

    def compared(*compared_ones: Any, **how: Any) -> Any:
        return replace(real(*compared_ones, **how), outputs=(0,), suspects=(), given=())

    monkeypatch.setattr(proof_module, "compared", compared)
    monkeypatch.setattr("tfdbg_cli.capture.functions.calling.instrumented.grafted", cannot_be_grafted)


@pytest.mark.usefixtures("other_ops")
def test_that_nothing_is_proven_is_said_before_anything_is_found() -> None:
    weight = tf.Variable(np.eye(4, dtype=np.float32))
    step = _clipped(weight)
    with _keeping() as (debugger, front):
        step(tf.ones([2, 4]))
        said = "in 1 run. The program's own numbers: may not be exact. "
        assert said in _seen(debugger) and not _seen(debugger).endswith(said), "and why"
        assert debugger.active_watch is not None
        assert "1 run, may not be exact" in debugger.active_watch.watch.words
        step(-9 * tf.ones([2, 4]))
    exactness = front.ends[0].run.exactness
    assert exactness is not None
    assert exactness.way is ExecutionWay.IN_PLACE
    assert "Last digits may differ" in exactness.sentence


def test_so_it_is_under_a_filter_of_the_persons_own() -> None:
    step = tf.function(lambda x: tf.math.log(x) * 2.0)
    with _keeping(RunUntil("mine", values=Values.KEEP)) as (debugger, _):
        debugger.filters["mine"] = lambda _, value: False
        step(tf.constant(1.0))
        assert "The program's own numbers: may not be exact." in _seen(debugger)


def test_what_a_trial_finds_is_set_right_and_said(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    real = PlainRuns.effect

    def effect(runs: PlainRuns, held: Any) -> CallOutcome:
        found = real(runs, held)
        return CallOutcome([output + 1.0 for output in found.outputs], found.variables)

    monkeypatch.setattr(PlainRuns, "effect", effect)
    failures._REMARKED.clear()
    step = tf.function(lambda x: x * 2.0)
    with _keeping() as (debugger, _):
        given = [step(tf.constant(1.0)).numpy() for _ in range(4)]
        assert given == [3, 3, 2, 2], "the first two are made plainly, too"
        assert "The program's own numbers: not exact: Identity:0" in _seen(debugger)
    assert "With their values kept, runs of" in capsys.readouterr().err


@pytest.mark.parametrize("draws", [False, True])
def test_a_call_is_made_plainly_before_its_values_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch, draws: bool
) -> None:
    done: list[str] = []
    real_effect, real_perform = PlainRuns.effect, Instrumented.perform

    def effect(runs: PlainRuns, held: Any) -> CallOutcome:
        done.append("plainly")
        return real_effect(runs, held)

    def perform(instrumented: Instrumented, *arguments: Any) -> Any:
        done.append("with values")
        return real_perform(instrumented, *arguments)

    monkeypatch.setattr(PlainRuns, "effect", effect)
    monkeypatch.setattr(Instrumented, "perform", perform)
    weight = tf.Variable(1.0)
    batches = iter(tf.data.Dataset.from_tensors(2.0).repeat())

    @tf.function
    def step(x: Any) -> Any:
        weight.assign_add(x)
        return weight * (next(batches) if draws else 2.0)

    with _keeping():
        assert [step(tf.constant(0.5)).numpy() for _ in range(3)] == [3.0, 4.0, 5.0]
    assert weight.numpy() == 2.5
    both = ["with values", "plainly"] if draws else ["plainly", "with values"]
    assert done == [*both, *both, "with values"], "what a call drew is known behind it"
