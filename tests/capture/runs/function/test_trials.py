"""Watched calls that are also made plainly: what differs is said, and the program is given what is right."""

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
from tfdbg_cli.capture.functions.exact import proof as proof_module
from tfdbg_cli.capture.functions.exact.agreement import CallOutcome
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.runs.function import trials as trials_module
from tfdbg_cli.capture.runs.function.plain_runs import PlainRuns
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.runs.function.trials import Trials
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun, RunUntil, Values
from tfdbg_cli.model.exactness import ExecutionWay

pytestmark = pytest.mark.tf


@contextmanager
def debugged(*script: Any) -> Iterator[ScriptedFrontend]:
    front = ScriptedFrontend(*script)
    debugger = Debugger(lambda: front)
    front.debugger = debugger
    undo = intercept_all_functions(debugger)
    try:
        yield front
    finally:
        undo()


def _held(function: Any, *arguments: Any) -> tuple[TracedFunction, Any]:
    concrete = function.get_concrete_function(*arguments)
    traced = TracedFunction(compat.atomic_of(concrete))
    return traced, CallSnapshot.of(traced.snapshot_plan, [*tf.nest.flatten(arguments), *concrete.captured_inputs])


def test_the_plain_function_runs_on_copies() -> None:
    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: Any) -> Any:
        weight.assign_add(x)
        return tf.reduce_sum(weight)

    traced, held = _held(step, tf.constant([3.0, 4.0]))
    weight.assign([9.0, 9.0])
    atomic = compat.atomic_of(step.get_concrete_function(tf.constant([3.0, 4.0])))
    effect = PlainRuns(traced.snapshot_plan, atomic).effect(held)
    assert effect.outputs[0].numpy() == 10
    (after,) = effect.variables.values()
    assert after.numpy().tolist() == [4, 6]
    assert weight.numpy().tolist() == [9, 9]


def test_what_acts_outside_is_not_done_twice() -> None:
    @tf.function
    def step(x: Any) -> Any:
        tf.print(x)
        return x + 1.0

    traced, _ = _held(step, tf.constant(1.0))
    assert "PrintV2" in PlainRuns(traced.snapshot_plan, None).reason


def test_the_first_calls_are_tried_and_then_fewer_and_fewer() -> None:
    step = tf.function(lambda x: x + 1.0)
    traced, _ = _held(step, tf.constant(1.0))
    trials = Trials(traced.snapshot_plan, compat.atomic_of(step.get_concrete_function(tf.constant(1.0))))
    assert [number for number in range(1, 2001) if trials.next_is_due()] == [1, 2, 10, 100, 1000]


@pytest.fixture
def other_plain_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain function gives the next number up of every float."""
    real = PlainRuns.effect

    def up(tensor: Any) -> Any:
        return tf.constant(np.nextafter(tensor.numpy(), np.float32(np.inf)))

    def effect(runs: PlainRuns, held: Any) -> CallOutcome:
        found = real(runs, held)
        return CallOutcome(list(map(up, found.outputs)), {at: up(value) for at, value in found.variables.items()})

    monkeypatch.setattr(PlainRuns, "effect", effect)
    failures._REMARKED.clear()


def _step(weight: Any) -> Any:
    @tf.function
    def step(x: Any) -> Any:
        weight.assign_add(x)
        return tf.math.log(weight)

    return step


@pytest.mark.usefixtures("other_plain_runs")
def test_a_difference_that_no_graph_shows_has_a_copy_watched(capsys: Any) -> None:
    weight = tf.Variable(1.0, name="weight")
    step = _step(weight)
    with debugged(RunUntil("has_inf_or_nan")) as front:
        given = step(tf.constant(0.5)).numpy()
        assert given == np.nextafter(np.log(np.float32(1.5)), np.float32(9)), "the program is given what is plain"
        assert weight.numpy() == np.nextafter(np.float32(1.5), np.float32(9))
        step(tf.constant(0.5))
        assert weight.numpy() == np.nextafter(np.float32(1.5), np.float32(9)) + np.float32(0.5), "its own call"
        step(tf.constant(-5.0))
    assert "From now on the program's own call stays as it is" in capsys.readouterr().err
    exactness = front.ends[0].run.exactness
    assert exactness is not None
    assert exactness.exact, exactness.sentence
    assert exactness.way is ExecutionWay.UNCHANGED
    assert "a copy of each call is watched" in exactness.sentence


@pytest.mark.usefixtures("other_plain_runs")
def test_where_terms_come_in_any_order_that_is_said_of_a_difference(monkeypatch: Any, capsys: Any) -> None:
    """As ResNet V2's: TensorFlow makes additions to a temporary variable of a long sum of its."""
    monkeypatch.setattr(trials_module, "unordered_sums", lambda plain: ["AddN_7"])
    weight = tf.Variable(1.0, name="weight")
    step = _step(weight)
    with debugged(RunUntil("has_inf_or_nan")):
        step(tf.constant(0.5))
        assert weight.numpy() == np.nextafter(np.float32(1.5), np.float32(9)), "the program is given what is plain"
    said = capsys.readouterr().err
    assert "From now on the program's own call stays as it is" in said, "a difference counts all the same"
    assert "adds up the terms of AddN_7 in the order in which they come" in said


def test_a_mistake_of_ours_in_a_comparison_is_not_called_one_of_the_function(monkeypatch: Any, capsys: Any) -> None:
    def mistaken(*_: Any) -> Any:
        raise KeyError("weight")

    monkeypatch.setattr(trials_module, "agreement", mistaken)
    weight = tf.Variable(1.0, name="weight")
    step = _step(weight)
    with debugged(RunUntil("has_inf_or_nan")) as front:
        assert step(tf.constant(0.5)).numpy() == np.log(np.float32(1.5))
        step(tf.constant(-1.5))
    said = capsys.readouterr().err
    assert "could not compare a watched call with a plain one (KeyError: 'weight')" in said
    assert "failed when it was made plainly" not in said
    assert len(front.ends) == 1, "the watch goes on"


@pytest.fixture(params=["no kernel for it", ""])
def refusal(request: pytest.FixtureRequest) -> str:
    """What TensorFlow says when it refuses something."""
    return str(request.param)


@pytest.fixture
def failing_checks(monkeypatch: pytest.MonkeyPatch, refusal: str) -> None:
    """TensorFlow refuses what tfdbg added to functions."""
    real = compat.run_function

    def run(name: str, *arguments: Any, **options: Any) -> Any:
        if "__tfdbg" in name:
            real(name, *arguments, **options)  # the worst: the variables were changed
            raise tf.errors.NotFoundError(None, None, refusal)
        return real(name, *arguments, **options)

    monkeypatch.setattr(compat, "run_function", run)
    failures._REMARKED.clear()


@pytest.mark.usefixtures("failing_checks")
def test_where_checks_alone_fail_the_program_gets_what_it_would_have_got(refusal: str, capsys: Any) -> None:
    """A blind test: an error without words became one of the program's."""
    weight = tf.Variable(1.0, name="weight")
    step = _step(weight)
    with debugged(RunUntil("has_inf_or_nan")) as front:
        assert [step(tf.constant(0.5)).numpy() for _ in range(3)] == [np.log(np.float32(x)) for x in (1.5, 2, 2.5)]
        assert weight.numpy() == 2.5
    assert not front.ends
    told = capsys.readouterr().err
    assert "With checks in it step failed" in told
    assert f"(NotFoundError: {refusal})" in told if refusal else "(NotFoundError)" in told
    assert told.count(f"The run was not checked: The copy failed: {refusal or 'NotFoundError'}") == 1, (
        "of all runs, once"
    )


def test_an_error_of_the_program_stays_its_own() -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.debugging.check_numerics(tf.math.log(x), "bad")

    with debugged(RunUntil("has_inf_or_nan")) as front, pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        step(tf.constant(-1.0))
    assert front.ends


@pytest.mark.usefixtures("other_plain_runs")
def test_what_came_before_a_late_difference_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    due = iter([False, False, False, True])
    monkeypatch.setattr(Trials, "next_is_due", lambda trials: setattr(trials, "_calls", 10) or next(due, False))
    step = _step(tf.Variable(1.0, name="weight"))
    with debugged(RunUntil("has_inf_or_nan")) as front:
        for _ in range(4):
            step(tf.constant(0.5))
        step(tf.constant(-9.0))
    exactness = front.ends[0].run.exactness
    assert exactness is not None
    assert not exactness.program_exact
    assert {parting.max_ulp for parting in exactness.strays} == {1}
    assert exactness.sentence.startswith("Not exact")


@pytest.mark.usefixtures("other_plain_runs")
def test_the_line_of_the_watch_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trials, "next_is_due", lambda trials: setattr(trials, "_calls", 10) or True)
    step = _step(tf.Variable(1.0))
    with debugged(RunUntil("has_inf_or_nan")) as front:
        step(tf.constant(0.5))
        assert "not exact: " in front.debugger.active_watch.watch.words


def test_a_function_that_does_not_repeat_itself_is_not_tried(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    real = PlainRuns.effect
    numbers = iter(range(1, 9))

    def effect(runs: PlainRuns, held: Any) -> CallOutcome:
        found = real(runs, held)
        return CallOutcome([tensor + float(next(numbers)) for tensor in found.outputs], found.variables)

    monkeypatch.setattr(PlainRuns, "effect", effect)
    step = _step(tf.Variable(1.0))
    with debugged(RunUntil("has_inf_or_nan")) as front:
        assert step(tf.constant(0.5)).numpy() == np.log(np.float32(1.5)), "it is given what came"
        step(tf.constant(-9.0))
    assert "own call stays" not in capsys.readouterr().err
    assert front.ends[0].run.exactness is not None
    assert front.ends[0].run.exactness.program_exact, "the graph proves it"


@pytest.mark.usefixtures("checks_that_change_ops")
def test_where_checks_would_change_the_ops_a_copy_is_watched() -> None:
    data = iter(tf.data.Dataset.from_tensor_slices(tf.range(1.0, 7.0)))
    weight = tf.Variable(1.0)

    @tf.function
    def step(by: Any) -> Any:
        weight.assign_add(next(data) * by)
        return tf.math.log(weight)

    with debugged(RunUntil("has_inf_or_nan")) as front:
        assert step(tf.constant(1.0)).numpy() == np.log(np.float32(2))
        assert np.isnan(step(tf.constant(-9.0)).numpy())
        assert step(tf.constant(10.0)).numpy() == np.log(np.float32(14))
    (end,) = front.ends
    assert end.hit is not None
    assert end.run.exactness is not None
    assert end.run.exactness.exact, end.run.exactness.sentence
    assert "a copy of each call is watched" in end.run.exactness.sentence
    assert weight.numpy() == 14


@pytest.fixture
def checks_that_change_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever checks read, the ops of the program are said to be others."""
    real = proof_module.compared

    def compared(plain: Any, rewritten: Any, own: int, **how: Any) -> Any:
        found = real(plain, rewritten, own, **how)
        ours = any("tfdbg_check" in node.name for node in rewritten.nodes)
        return replace(found, outputs=(0,)) if ours else found

    monkeypatch.setattr(proof_module, "compared", compared)


def test_a_copied_call_that_fails_fails_as_ever(
    monkeypatch: pytest.MonkeyPatch, checks_that_change_ops: None
) -> None:
    step = tf.function(lambda x: tf.debugging.check_numerics(x, "bad"))
    with debugged(RunUntil("has_inf_or_nan")) as front:
        step(tf.constant(1.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            step(tf.constant(np.nan))
    assert front.ends[0].run.error is not None


def test_at_a_hit_the_program_is_given_what_the_plain_run_gives() -> None:
    weight = tf.Variable(1.0)
    step = _step(weight)
    with debugged(RunUntil("has_inf_or_nan"), RunUntil("has_inf_or_nan")) as front:
        assert np.isnan(step(tf.constant(-5.0)).numpy())
        exactness = front.ends[0].run.exactness
        assert exactness is not None
        assert exactness.exact, exactness.sentence
        assert exactness.compared == 2
        assert weight.numpy() == -4


@pytest.mark.parametrize("values", [Values.AUTO, Values.KEEP])
def test_a_captured_run_says_how_it_was_made(values: Values) -> None:
    step = _step(tf.Variable(1.0))
    with debugged(DebugRun(values=values)) as front:
        step(tf.constant(0.5))
    exactness = front.ends[0].run.exactness
    assert exactness is not None
    if values is Values.KEEP:
        assert exactness.way is ExecutionWay.IN_PLACE
        assert not exactness.exact
    else:
        assert (exactness.way, exactness.exact, exactness.compared) == (ExecutionWay.UNCHANGED, True, 2)


def test_random_numbers_of_a_kernel_of_its_own_are_said() -> None:
    tf.random.set_seed(1)

    @tf.function
    def step(x: Any) -> Any:
        return x + tf.random.uniform([2])

    first = step(tf.constant(0.0))
    with debugged(RunUntil("has_inf_or_nan")) as front:
        assert np.array_equal(step(tf.constant(0.0)), first), "they begin anew"
        step(tf.constant(np.nan))
    exactness = front.ends[0].run.exactness
    assert exactness is not None
    assert not exactness.exact
    assert "Random numbers" in exactness.sentence


def test_a_batch_is_drawn_once() -> None:
    data = iter(tf.data.Dataset.from_tensor_slices(tf.range(6.0)).batch(2))
    weight = tf.Variable(0.0)

    @tf.function
    def step(iterator: Any) -> Any:
        batch = next(iterator)
        weight.assign_add(tf.reduce_sum(batch))
        return batch

    with debugged(DebugRun(), RunUntil("has_inf_or_nan")) as front:
        assert [step(data).numpy().tolist() for _ in range(3)] == [[0, 1], [2, 3], [4, 5]]
        with pytest.raises(tf.errors.OutOfRangeError):
            step(data)
    assert weight.numpy() == 15
    exactness = front.ends[0].run.exactness
    assert exactness is not None
    assert exactness.exact, exactness.sentence


@pytest.mark.usefixtures("other_plain_runs", "checks_that_change_ops")
def test_where_taking_the_batch_changes_last_digits_the_program_is_always_given_what_the_plain_run_gives(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A blind test: behind the first two steps a bidirectional LSTM of tf_keras got other weights than alone."""
    data = iter(tf.data.Dataset.from_tensor_slices(tf.range(12.0)))
    weight = tf.Variable(0.0)

    @tf.function
    def step(iterator: Any) -> Any:
        x = next(iterator) + 1.0
        weight.assign(x)
        return tf.math.log(x)

    with debugged(RunUntil("has_inf_or_nan"), RunUntil("has_inf_or_nan")) as front:
        for number in range(12):
            expected = np.nextafter(np.log(np.float32(number + 1)), np.float32(np.inf))
            np.testing.assert_array_almost_equal_nulp(step(data).numpy(), expected, 2)
            assert weight.numpy() == np.nextafter(np.float32(number + 1), np.float32(np.inf)), number
    said = capsys.readouterr().err
    assert said.count("Where what they draw is taken, as a batch") == 1 and "a copy of it is watched" not in said
    assert not front.ends
