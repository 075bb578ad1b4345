"""Statistics that TensorFlow computes, and beside them the values of a selection: `--stats-only --only REGEX`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.prompt import Prompt
from support.recorded_steps import recorded

import tfdbg_cli as tf_debug
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import recorded_summary, summary_of
from tfdbg_cli.model.values import NoValue

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front")]

_INSIDE = "TensorFlow computed statistics while it went on, and"


def _recorded(path: Path, step: Callable[[], object], times: int = 1, **options: Any) -> list[Run]:
    return recorded(path, step, times, stats_only=True, **options)


def _held(run: Run) -> dict[str, Any]:
    """The values that were recorded, by the names of their tensors."""
    store = run.tensors
    values = {str(store[row].name): store.value(row) for row in range(len(store))}
    return {name: value for name, value in values.items() if not isinstance(value, NoValue)}


def _notes(run: Run) -> str:
    return " ".join(run.notes)


def _training() -> tuple[Callable[[], Any], list[Any], Any]:
    """A training step of a dense layer whose product TensorFlow fuses, its variables and its batch."""
    import tensorflow as tf

    w, b = tf.Variable(tf.ones([32, 40]) * 0.1, name="w"), tf.Variable(tf.zeros([40]), name="b")
    x = tf.constant(np.random.default_rng(0).standard_normal((64, 32)), tf.float32)

    @tf.function
    def dense(x: Any) -> Any:
        return tf.nn.relu(x @ w + b)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(dense(x) - 1.0))
        slopes = tape.gradient(loss, [w, b])
        for variable, slope in zip([w, b], slopes, strict=True):
            variable.assign_sub(0.1 * slope)
        return loss

    return lambda: step(x), [w, b], x


@pytest.mark.parametrize("only", ["dense/matmul$", "dense/", "after_update$", "^x$", "gradient_tape", ""])
def test_a_selection_has_the_values_of_the_run_and_the_rest_statistics(tmp_path: Path, only: str) -> None:
    plain, expected, _ = _training()
    losses = [plain().numpy() for _ in range(3)]
    step, variables, x = _training()
    found: list[Any] = []
    options = {"only": only} if only else {"layer": "dense"}
    measured = _recorded(tmp_path / "s", lambda: found.append(step().numpy()), 3, **options)
    assert np.asarray(found).tobytes() == np.asarray(losses).tobytes()
    for own, plain_one in zip(variables, expected, strict=True):
        assert own.numpy().tobytes() == plain_one.numpy().tobytes()

    again, _, _ = _training()
    tf_debug.record(tmp_path / "v", every=1, only=only, layer="" if only else "dense")
    for _ in range(3):
        again()
    tf_debug.stop_recording()
    valued = [run for run in open_path(tmp_path / "v").runs if len(run.tensors) > 2]
    for told, full in zip(measured, valued, strict=True):
        held, wanted = _held(told), _held(full)
        assert wanted and held.keys() == wanted.keys()
        for name, value in wanted.items():
            assert (held[name].dtype, held[name].shape) == (value.dtype, value.shape)
            np.testing.assert_allclose(held[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
        assert f"{_INSIDE} the value" in _notes(told) and "kept" in _notes(told)
        store = told.tensors
        others = [row for row in range(len(store)) if str(store[row].name) not in held]
        assert sum(recorded_summary(store, row) is not None for row in others) > len(others) / 3
        for row in set(range(len(store))) - set(others):
            tensor = store[row]
            assert tensor.shape == held[str(tensor.name)].shape and summary_of(store, row) is not None
    if only == "^x$":
        assert held["x:0"].tobytes() == x.numpy().tobytes()


def test_what_is_asked_of_a_loop_is_captured_and_said(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        total = x
        while tf.reduce_sum(total) < 100.0:
            total = total * 2.0
        return total + 1.0

    (inside,) = _recorded(tmp_path / "s", lambda: step(tf.ones([30])), only="^add$")
    assert list(_held(inside)) == ["add:0"] and _INSIDE in _notes(inside)
    (captured,) = _recorded(tmp_path / "v", lambda: step(tf.ones([30])), only="mul$")
    (name,) = _held(captured)
    assert name.endswith("mul:0") and _INSIDE not in _notes(captured)
    assert f"in a branch or a loop ({name})" in _notes(captured)
    assert "in a branch or a loop" in " ".join(Prompt(captured).show("ri").split())


def test_texts_and_unknown_lengths(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)], autograph=False)
    def step(x: Any) -> Any:
        return tf.strings.as_string(x, name="text"), tf.math.log(x, name="log"), x * 3.0

    (run,) = _recorded(tmp_path / "s", lambda: step(tf.constant([1.0, 0.0, 2.0])), only="^(text|log)$")
    held = _held(run)
    assert held["text:0"].tolist() == [b"1.000000", b"0.000000", b"2.000000"]
    assert held["log:0"][1] == -np.inf and held["log:0"].shape == (3,)
    assert "the values of 2 tensors were kept" in _notes(run)
    rows = Prompt(run).data("lt -f has_inf_or_nan")["tensors"]
    assert [row["node"] for row in rows] == ["log", "Identity_1"] and rows[0]["summary"]["neg_inf"] == 1


def test_a_selection_larger_than_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        return tf.math.sqrt(x) * 2.0

    monkeypatch.setattr("tfdbg_cli.capture.runs.function.measured_function.memory_budget", lambda settings: 1000)
    tf_debug.record(tmp_path / "r", every=1, stats_only=True, only="^Sqrt$")
    assert step(tf.ones([300])).numpy().tolist() == [2] * 300
    step(tf.ones([3]))  # another trace, whose value fits
    tf_debug.stop_recording()
    first, second = open_path(tmp_path / "r").runs
    assert not len(first.tensors) and "takes about 1.17 kB" in _notes(first)
    assert list(_held(second)) == ["Sqrt:0"]


def test_eager_code_is_counted_and_the_selection_is_kept(tmp_path: Path) -> None:
    import tensorflow as tf

    tf_debug.record(tmp_path / "e", every=1, stats_only=True, only="^Sqrt")
    with tf_debug.run("a step"):
        tf.math.sqrt(tf.constant([4.0, 9.0])) * 2.0
    tf_debug.stop_recording()
    (run,) = open_path(tmp_path / "e").runs
    assert [value.tolist() for value in _held(run).values()] == [[2, 3]]
    (row,) = [row for row in range(len(run.tensors)) if run.tensors[row].op_type == "Mul"]
    told = summary_of(run.tensors, row)
    assert told is not None and told.max == 6 and isinstance(run.tensors.value(row), NoValue)
