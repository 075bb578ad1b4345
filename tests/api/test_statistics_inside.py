"""Statistics that TensorFlow computes while a function runs, against those of the values of the same run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, summarize
from tfdbg_cli.model.tensors import summary_of
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf

_COUNTS = ("size", "nan", "neg_inf", "pos_inf", "neg", "zero", "pos")


@pytest.fixture(autouse=True)
def front(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedFrontend]:
    from tfdbg_cli.api import process

    scripted = ScriptedFrontend()
    process.process_debugger.cache_clear()
    monkeypatch.setattr(process, "choose_frontend", lambda *_, **__: scripted)
    yield scripted
    tf_debug.disable()
    process.process_debugger.cache_clear()


def _recorded(path: Path, step: Callable[[], object], times: int = 1, **options: Any) -> list[Run]:
    tf_debug.record(path, every=1, **options)
    for _ in range(times):
        step()
    tf_debug.stop_recording()
    return [run for run in open_path(path).runs if len(run.tensors) > 2]


def _same(told: Summary | None, expected: Summary) -> bool:
    """Whether two summaries agree: counts and extremes exactly, moments as far as float32 sums can."""
    if told is None or [getattr(told, name) for name in _COUNTS] != [getattr(expected, name) for name in _COUNTS]:
        return False
    if (told.min, told.max, told.of_magnitude) != (expected.min, expected.max, expected.of_magnitude):
        return False
    if expected.mean is None or expected.std is None:
        return told.mean is None and told.std is None
    scale = max(abs(expected.min or 0), abs(expected.max or 0))
    close = told.mean is not None and math.isclose(told.mean, expected.mean, rel_tol=1e-5, abs_tol=1e-6 * scale)
    # A spread that is small beside the numbers is lost in sums of squares: then it is not told.
    if told.std is None:
        return close and expected.std < 0.011 * abs(expected.mean)
    return close and math.isclose(told.std, expected.std, rel_tol=5e-3, abs_tol=1e-6 * scale)


def _compare(measured: Run, valued: Run) -> dict[str, str]:
    """What does not agree, by tensor; every tensor with numbers in `valued` must have statistics in `measured`."""
    wrong = {}
    for place in range(len(valued.tensors)):
        tensor, value = valued.tensors[place], valued.tensors.value(place)
        if isinstance(value, NoValue) or value.dtype.kind in "OSU":
            continue
        rows = measured.tensors.named(tensor.node, tensor.slot)
        if not rows:
            wrong[str(tensor.name)] = "missing"
            continue
        told, expected = summary_of(measured.tensors, rows[0]), summarize(value)
        other = measured.tensors[rows[0]]
        if not _same(told, expected):
            wrong[str(tensor.name)] = f"{told} instead of {expected}"
        elif (other.dtype, other.shape, other.nbytes) != (tensor.dtype, tensor.shape, tensor.nbytes):
            wrong[str(tensor.name)] = f"{other} instead of {tensor}"
    return wrong


def _hard(dtype: str, size: int, seed: int) -> Any:
    """An array with zeros, and NaN and infinities where there are such."""
    import tensorflow as tf

    chance = np.random.default_rng(seed)
    numbers = chance.standard_normal(size) * 10.0 ** chance.integers(-2, 3)
    numbers[chance.random(size) < 0.1] = 0
    kind = tf.as_dtype(dtype)
    if kind.is_complex:
        numbers = numbers + 1j * chance.standard_normal(size)
    if (kind.is_floating or kind.is_complex) and seed % 2 and size:
        numbers[chance.random(size) < 0.1] = np.nan
        numbers[chance.random(size) < 0.1] = np.inf
        numbers[chance.random(size) < 0.1] = -np.inf
    if dtype == "bool":
        return tf.constant(numbers > 0)
    if kind.is_integer:
        return tf.cast(np.abs(numbers) if kind.is_unsigned else numbers, kind)
    return tf.cast(numbers, kind)


@pytest.mark.parametrize("dtype", [
    "float16", "bfloat16", "float32", "float64", "float8_e5m2", "float8_e4m3fn", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128",
])  # fmt: skip
@pytest.mark.parametrize("known", [True, False])
def test_statistics_are_those_of_the_values(tmp_path: Path, dtype: str, known: bool) -> None:
    import tensorflow as tf

    for seed, size in enumerate((0, 1, 200, 257, 5000, 5000)):
        array = _hard(dtype, size, seed)
        shape = [size] if known else [None]

        @tf.function(input_signature=[tf.TensorSpec(shape, dtype)], autograph=False)
        def step(x: Any) -> Any:
            return tf.reshape(x, [1, -1]), tf.concat([x, x], 0)

        (measured,) = _recorded(tmp_path / f"{seed}s", lambda: step(array), stats_only=True)  # noqa: B023
        (valued,) = _recorded(tmp_path / f"{seed}v", lambda: step(array))  # noqa: B023
        assert _compare(measured, valued) == {}
        assert all(isinstance(measured.tensors.value(i), NoValue) for i in range(len(measured.tensors)))


def test_of_a_training_step_that_trains_as_without(tmp_path: Path) -> None:
    import tensorflow as tf

    def made() -> tuple[Any, Any]:
        w, b = tf.Variable(tf.ones([32, 40]) * 0.1), tf.Variable(tf.zeros([40]))
        x = tf.constant(np.random.default_rng(0).standard_normal((64, 32)), tf.float32)

        @tf.function
        def dense(x: Any) -> Any:
            return tf.nn.relu(x @ w + b)

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(dense(x) - 1.0))
            slopes = tape.gradient(loss, [w, b])
            for variable, slope in zip([w, b], slopes, strict=True):
                variable.assign_sub(0.1 * slope)
            return loss

        return step, w

    plain, expected = made()
    losses = [plain().numpy() for _ in range(12)]
    step, weights = made()
    found: list[Any] = []
    measured = _recorded(tmp_path / "s", lambda: found.append(step().numpy()), 12, stats_only=True)
    assert np.asarray(found).tobytes() == np.asarray(losses).tobytes()
    assert weights.numpy().tobytes() == expected.numpy().tobytes()
    again, _ = made()
    valued = _recorded(tmp_path / "v", again, 12)
    assert [run.call.number for run in measured] == list(range(1, 13))
    wrong = _compare(measured[-1], valued[-1])
    lacking = {name for name, text in wrong.items() if text.startswith("None instead of")}
    assert wrong.keys() == lacking
    for name in lacking:  # a product that is fused with its bias
        row = measured[-1].tensors.named(*name.rsplit(":", 1)[:1])[0]
        value = measured[-1].tensors.value(row)
        assert isinstance(value, NoValue) and "TensorFlow computes it in one with what reads it" in value.text
    assert lacking <= {"dense/matmul:0", "dense/add:0"}
    assert any("computed statistics while it went on" in note for note in measured[0].notes)


def test_branches_and_loops_are_named_as_lacking(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        total = x
        while tf.reduce_sum(total) < 100.0:
            total = total * 2.0
        return total + 1.0

    (measured,) = _recorded(tmp_path / "s", lambda: step(tf.ones([300])), stats_only=True)
    (row,) = measured.tensors.named("while/mul", 0) or measured.tensors.named("while/body/mul", 0)
    value = measured.tensors.value(row)
    assert isinstance(value, NoValue) and "in a branch or a loop" in value.text
    last = measured.tensors.named("add", 0)[0]
    told = summary_of(measured.tensors, last)
    assert told is not None and told.mean == 2.0 and told.size == 300


def test_filters_and_origin_go_by_them(tmp_path: Path) -> None:
    import tensorflow as tf
    from support.prompt import Prompt

    @tf.function
    def step(x: Any) -> Any:
        return tf.reduce_sum(tf.math.log(x) * 2.0)

    x = np.ones(1000, np.float32)
    x[7] = 0
    (measured,) = _recorded(tmp_path / "s", lambda: step(tf.constant(x)), stats_only=True)
    prompt = Prompt(measured)
    rows = prompt.data("lt -f has_inf_or_nan")["tensors"]
    assert rows[0]["node"] == "Log"
    assert rows[0]["summary"]["neg_inf"] == 1 and rows[0]["summary"]["zero"] == 999
    assert prompt.data("origin")["tensor"] == "Log:0"
