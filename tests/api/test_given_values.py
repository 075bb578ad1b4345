"""Values of recorded functions, which the run gives back itself instead of being made again for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.recorded_steps import recorded

import tfdbg_cli as tf_debug
from tfdbg_cli.capture.runs.function import watched_calls
from tfdbg_cli.capture.runs.function.given_capture import GIVEN
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front")]


def _values(run: Run) -> dict[tuple[str, int], Any]:
    """What was recorded of each tensor, by its name and execution: type, shape and value, or why there is none."""
    store = run.tensors
    found: dict[tuple[str, int], Any] = {}
    for row in range(len(store)):
        tensor, value = store[row], store.value(row)
        found[str(tensor.name), tensor.execution] = tensor.dtype, tensor.shape, tensor.op_type, value
    return found


def _training() -> tuple[Callable[[], Any], list[Any]]:
    """A step with what makes it hard: fused products, sums of gradients, texts, a normalization, late reads."""
    import tensorflow as tf

    w, b = tf.Variable(tf.ones([8, 6]) * 0.1, name="w"), tf.Variable(tf.zeros([6]), name="b")
    count = tf.Variable(0, name="count", dtype=tf.int64)
    x = tf.constant(np.random.default_rng(0).standard_normal((4, 5, 5, 8)), tf.float32)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.reshape(x, [-1, 8]) @ w + b)
            scaled, _, _ = tf.compat.v1.nn.fused_batch_norm(tf.reshape(h, [4, 5, 5, 6]), tf.ones([6]), tf.zeros([6]))
            loss = tf.reduce_mean(tf.square(scaled - h[0, 0])) + tf.reduce_sum(b * b)
        for variable, slope in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            variable.assign_sub(0.1 * slope)
        count.assign_add(1)
        return loss, tf.strings.as_string(count.read_value())

    return lambda: step(x), [w, b, count]


@pytest.fixture
def made_again(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Has an item for each run that was made again."""
    times: list[int] = []
    own = CallSnapshot.made_again

    def counted(held: CallSnapshot, room: int | None = None) -> Any:
        times.append(1)
        return own(held, room)

    monkeypatch.setattr(CallSnapshot, "made_again", counted)
    return times


def test_a_recorded_run_gives_what_one_made_again_has_and_is_made_once(
    tmp_path: Path, made_again: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, expected = _training()
    wanted = [[part.numpy() for part in plain()] for _ in range(4)]
    step, variables = _training()
    got: list[Any] = []
    given = recorded(tmp_path / "given", lambda: got.append([part.numpy() for part in step()]), 4)
    assert not made_again
    assert [[np.asarray(part).tobytes() for part in parts] for parts in got] == [
        [np.asarray(part).tobytes() for part in parts] for parts in wanted
    ]
    for own, other in zip(variables, expected, strict=True):
        assert own.numpy().tobytes() == other.numpy().tobytes()

    monkeypatch.setattr(watched_calls, "given_capture", lambda *_: None)
    again, _ = _training()
    replayed = recorded(tmp_path / "again", again, 4)
    assert made_again
    for one, other in zip(given, replayed, strict=True):
        assert GIVEN in one.notes and GIVEN not in other.notes
        ours, theirs = _values(one), _values(other)
        assert list(ours) == list(theirs) and len(ours) > 40
        for name, (*facts, value) in ours.items():
            *known, held = theirs[name]
            assert facts == known, name
            if isinstance(value, NoValue) or isinstance(held, NoValue):
                assert value == held, name
            elif value.dtype.kind == "f" and value.size:
                np.testing.assert_allclose(value, held, rtol=1e-5, atol=1e-6, err_msg=str(name))
            else:
                assert value.tolist() == held.tolist(), name
    last = _values(given[3])
    assert last["w/after_update:0", 0][-1].tobytes() == variables[0].numpy().tobytes()


def test_what_the_program_makes_between_recorded_runs_is_its_own(tmp_path: Path) -> None:
    plain, _ = _training()
    wanted = [plain()[0].numpy() for _ in range(5)]
    step, _ = _training()
    tf_debug.record(tmp_path / "r", every=2)
    got = [step()[0].numpy() for _ in range(5)]
    tf_debug.stop_recording()
    assert np.asarray(got).tobytes() == np.asarray(wanted).tobytes()
    assert len([run for run in open_path(tmp_path / "r").runs if len(run.tensors) > 2]) == 3


def test_a_run_that_fails_has_the_values_before_the_failure(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        doubled = tf.multiply(x, 2.0, name="doubled")
        return tf.debugging.check_numerics(tf.math.log(doubled), "no number") + 1.0

    tf_debug.record(tmp_path / "r", every=1)
    step(tf.constant([1.0, 2.0]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant([1.0, -1.0]))
    tf_debug.stop_recording()
    first, second = [run for run in open_path(tmp_path / "r").runs if len(run.tensors) > 2]
    assert GIVEN in first.notes and second.error is not None
    assert _values(second)["doubled:0", 0][-1].tolist() == [2.0, -2.0]


def test_values_of_loops_are_captured_as_ever(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        while tf.reduce_sum(x) < 100.0:
            x = x * 2.0
        return x + 1.0

    (run,) = recorded(tmp_path / "r", lambda: step(tf.ones([30])))
    assert GIVEN not in run.notes
    turns = [value for (name, _), (*_, value) in _values(run).items() if name.endswith("mul:0")]
    assert [turn[0] for turn in turns] == [2.0, 4.0]


def test_where_all_values_at_once_are_too_many_the_run_is_made_again(
    tmp_path: Path, made_again: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        return tf.math.sqrt(tf.math.square(x)) * 2.0

    monkeypatch.setattr("tfdbg_cli.capture.runs.function.measured_function.memory_budget", lambda settings: 1000)
    (run,) = recorded(tmp_path / "r", lambda: step(tf.ones([300])))
    assert made_again and GIVEN not in run.notes
    assert _values(run)["Sqrt:0", 0][-1].tolist() == [1.0] * 300
