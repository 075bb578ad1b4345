"""Statistics that TensorFlow computes while a function runs, against those of the values of the same run."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.prompt import Prompt
from support.recorded_steps import recorded

from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, summarize
from tfdbg_cli.model.tensors import summary_of
from tfdbg_cli.model.values import NoValue

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front")]

_COUNTS = ("size", "nan", "neg_inf", "pos_inf", "neg", "zero", "pos")


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


_DTYPES = (
    "float16", "bfloat16", "float32", "float64", "float8_e5m2", "float8_e4m3fn", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128",
)  # fmt: skip
# Where lengths are known a function is traced for each: one dtype of each kind.
_KNOWN = ("float32", "int32", "bool", "complex64")


@pytest.mark.parametrize(
    ("dtype", "known"), [*((dtype, False) for dtype in _DTYPES), *((dtype, True) for dtype in _KNOWN)]
)
def test_statistics_are_those_of_the_values(tmp_path: Path, dtype: str, known: bool) -> None:
    import tensorflow as tf

    @cache
    def step_for(length: int | None) -> Callable[[Any], Any]:
        @tf.function(input_signature=[tf.TensorSpec([length], dtype)], autograph=False)
        def step(x: Any) -> Any:
            return tf.reshape(x, [1, -1]), tf.concat([x, x], 0)

        return step

    sizes = (0, 1, 200, 257, 5000, 5000)
    calls = [partial(step_for(size if known else None), _hard(dtype, size, seed)) for seed, size in enumerate(sizes)]
    turns = cycle(calls)
    measured_ones = recorded(tmp_path / "s", lambda: next(turns)(), len(calls), stats_only=True)
    valued_ones = recorded(tmp_path / "v", lambda: next(turns)(), len(calls))
    assert len(measured_ones) == len(calls)
    for measured, valued in zip(measured_ones, valued_ones, strict=True):
        assert _compare(measured, valued) == {}
        assert all(isinstance(measured.tensors.value(i), NoValue) for i in range(len(measured.tensors)))


_MADE_OF_OTHERS = {
    "negations": lambda tf, x: (tf.negative(x), tf.negative(tf.reshape(tf.negative(x), [1, -1]))),
    "repetitions": lambda tf, x: (
        tf.tile(x, [3]), tf.broadcast_to(x, [2, 2, x.shape[0]]), tf.tile(tf.broadcast_to(x, [2, x.shape[0]]), [2, 3]),
    ),
    "reductions of one": lambda tf, x: (
        tf.reduce_sum(tf.expand_dims(x, 0), 0), tf.reduce_max(tf.expand_dims(x, 1), 1), tf.reduce_sum(x, 0),
        tf.reduce_sum(tf.reshape(x, [-1, 1]), [1]),
    ),
    "several at once": lambda tf, x: tf.identity_n([tf.identity(x), x[1:]]),
}  # fmt: skip


def _dtypes_of(kind: str) -> tuple[str, ...]:
    """Those for which TensorFlow has kernels of all ops of `kind`."""
    real = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64")
    of_all = {
        "negations": ("complex64", "complex128"),
        "repetitions": ("uint8", "uint32", "uint64", "bool", "complex64", "complex128"),
        "reductions of one": ("uint8", "uint16", "uint32", "uint64"),
        "several at once": ("uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"),
    }
    return *real, *of_all[kind]


@pytest.mark.parametrize("kind", _MADE_OF_OTHERS)
def test_of_what_is_made_of_other_tensors_statistics_are_those_of_its_values(tmp_path: Path, kind: str) -> None:
    import tensorflow as tf

    arrays = {
        f"{dtype}_{size}": _hard(dtype, size, seed)
        for dtype in _dtypes_of(kind)
        for seed, size in enumerate((0, 200, 257, 5000))
    }

    @tf.function(autograph=False)
    def step(**arrays: Any) -> Any:
        found = {}
        for name, x in arrays.items():
            with tf.name_scope(name):
                found[name] = _MADE_OF_OTHERS[kind](tf, x)
        return found

    (measured,) = recorded(tmp_path / "s", lambda: step(**arrays), stats_only=True)
    (valued,) = recorded(tmp_path / "v", lambda: step(**arrays))
    assert _compare(measured, valued) == {}


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int32"])
def test_of_a_negation_statistics_are_those_of_its_values_at_the_ends(tmp_path: Path, dtype: str) -> None:
    import tensorflow as tf

    ends = tf.as_dtype(dtype)
    hard = [[0.0] * 5, [-0.0] * 5, [0.0, -0.0], [ends.min, ends.max], [ends.min] * 3, [ends.max, 0], [1, -1]]
    arrays = [tf.constant(np.tile(np.array(values, ends.as_numpy_dtype), 200)) for values in hard]

    @tf.function(autograph=False)
    def step(arrays: Any) -> Any:
        return [(tf.negative(x), tf.negative(x[:9])) for x in arrays]

    (measured,) = recorded(tmp_path / "s", lambda: step(arrays), stats_only=True)
    (valued,) = recorded(tmp_path / "v", lambda: step(arrays))
    assert _compare(measured, valued) == {}
    told = [summary_of(measured.tensors, measured.tensors.named(node, 0)[0]) for node in ("Neg", "Neg_12")]
    assert not any(one is None or np.signbit(one.mean or 0.0) for one in told)


@pytest.mark.parametrize("known", [True, False])
def test_what_is_repeated_is_counted_once(tmp_path: Path, known: bool) -> None:
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([500 if known else None])], autograph=False)
    def step(x: Any) -> Any:
        return tf.tile(-x, [3]), tf.broadcast_to(x, [2, 500])

    array = tf.constant(np.linspace(-1, 3, 500), tf.float32)
    (measured,) = recorded(tmp_path / "s", lambda: step(array), stats_only=True)
    (valued,) = recorded(tmp_path / "v", lambda: step(array))
    assert _compare(measured, valued) == {}


def test_a_variable_read_after_what_it_was_assigned(tmp_path: Path) -> None:
    import tensorflow as tf

    a, b, c = (tf.Variable(np.linspace(-1, 3, 500), dtype=tf.float32) for _ in range(3))

    @tf.function
    def inner(x: Any) -> None:
        c.assign(x)

    @tf.function
    def step(x: Any) -> Any:
        old = a * 2.0
        a.assign(x * 3.0)  # written once
        first = a.read_value() - old
        b.assign(x)  # written twice
        second = b.read_value() + 1.0
        b.assign_add(x)
        third = b.read_value() + 1.0
        inner(x)
        fourth = c.read_value() + 1.0
        if tf.reduce_sum(x) > 0.0:
            c.assign_sub(second)
        return first, second, third, fourth, c.read_value()

    array = tf.constant(np.linspace(0, 1, 500), tf.float32)
    start = [variable.numpy() for variable in (a, b, c)]
    (measured,) = recorded(tmp_path / "s", lambda: step(array), stats_only=True)
    for variable, value in zip((a, b, c), start, strict=True):
        variable.assign(value)
    (valued,) = recorded(tmp_path / "v", lambda: step(array))
    wrong = _compare(measured, valued)
    assert all("in a branch or a loop" in _lack(measured, name) for name in wrong), wrong


def _lack(run: Run, name: str) -> str:
    """Why `run` has no statistics of the tensor called so; empty where it has some."""
    node, slot = name.rsplit(":", 1)
    rows = run.tensors.named(node, int(slot))
    value = run.tensors.value(rows[0]) if rows and summary_of(run.tensors, rows[0]) is None else None
    return value.text if isinstance(value, NoValue) else ""


def test_of_a_reshape_of_a_value_that_is_kept(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        return tf.reshape(tf.multiply(x, 2.0, name="kept"), [-1])

    (measured,) = recorded(tmp_path, lambda: step(tf.ones([30, 20])), stats_only=True, only="kept")
    told = summary_of(measured.tensors, measured.tensors.named("Reshape", 0)[0])
    assert told is not None and (told.size, told.mean, told.pos) == (600, 2.0, 600)


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
    measured = recorded(tmp_path / "s", lambda: found.append(step().numpy()), 12, stats_only=True)
    assert np.asarray(found).tobytes() == np.asarray(losses).tobytes()
    assert weights.numpy().tobytes() == expected.numpy().tobytes()
    again, _ = made()
    valued = recorded(tmp_path / "v", again, 12)
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
    gaps = measured[0].gaps
    assert gaps.startswith(f"Of {len(lacking)} of its {len(measured[0].tensors)} tensors there are no statistics")
    assert "computed in one with what reads them" in gaps
    prompt = Prompt(measured[0])
    assert all(gaps in " ".join(prompt.show(command).split()) for command in ("ri", "lt", "lt -f has_inf_or_nan"))
    assert gaps in prompt.data("ri")["notes"]


def test_branches_and_loops_are_named_as_lacking(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        total = x
        while tf.reduce_sum(total) < 100.0:
            total = total * 2.0
        return total + 1.0

    (measured,) = recorded(tmp_path / "s", lambda: step(tf.ones([300])), stats_only=True)
    (row,) = measured.tensors.named("while/mul", 0) or measured.tensors.named("while/body/mul", 0)
    value = measured.tensors.value(row)
    assert isinstance(value, NoValue) and "in a branch or a loop" in value.text and "need not have run" in value.text
    assert "in branches and loops, which need not have run" in measured.gaps
    last = measured.tensors.named("add", 0)[0]
    told = summary_of(measured.tensors, last)
    assert told is not None and told.mean == 2.0 and told.size == 300


def test_filters_and_origin_go_by_them(tmp_path: Path) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        return tf.reduce_sum(tf.math.log(x) * 2.0)

    x = np.ones(1000, np.float32)
    x[7] = 0
    (measured,) = recorded(tmp_path / "s", lambda: step(tf.constant(x)), stats_only=True)
    prompt = Prompt(measured)
    rows = prompt.data("lt -f has_inf_or_nan")["tensors"]
    assert rows[0]["node"] == "Log"
    assert rows[0]["summary"]["neg_inf"] == 1 and rows[0]["summary"]["zero"] == 999
    assert prompt.data("origin")["tensor"] == "Log:0"
