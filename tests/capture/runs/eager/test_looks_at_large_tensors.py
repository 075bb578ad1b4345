"""Large values are mostly not looked at: what is known of them, and of what came from outside, must say enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.many_runs.run_health import KnownHealth, RunHealths
from tfdbg_cli.capture.runs.eager import checks
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


@pytest.fixture
def front() -> Iterator[ScriptedFrontend]:
    yield from _watched()


def _watched() -> Iterator[ScriptedFrontend]:
    decision = RunUntil("has_inf_or_nan")
    front = ScriptedFrontend(*[decision] * 50)
    debugger = Debugger(lambda: front)
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(decision)
    yield front
    debugger.attendant = None
    watch.attend(False)


@pytest.mark.parametrize("excluded", ["", "^Log"])
def test_a_kept_run_in_which_nothing_was_found_is_fine_though_a_large_variable_is_not_held(excluded: str) -> None:
    decision = RunUntil("has_inf_or_nan", exclude_node_names=excluded, keep=2)
    front = ScriptedFrontend(decision)
    debugger = Debugger(lambda: front)
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(decision)
    large = tf.Variable(np.ones(20_000, np.float32))
    try:
        for turn in range(3):
            large.assign_sub(0.1 * tf.square(large - 2.0))
            tf.sqrt(tf.constant(1.0 - 2.0 * (turn // 2)))
    finally:
        debugger.attendant = None
        watch.attend(False)
    (end,) = front.ends[:1]
    assert [run.found_finite for run in (*end.earlier, end.run)] == [not excluded, not excluded, False]
    fine = KnownHealth.UNKNOWN if excluded else KnownHealth.FINE  # nobody looked at what was left out
    healths = RunHealths([*end.earlier, end.run])
    assert [healths.of(place).health for place in range(3)] == [fine, fine, KnownHealth.BAD]


_NUMBERS = st.sampled_from([0.0, 1.0, -3.0, 1e-30, 1e5, 3e12, 1e19, 3e38, math.inf, -math.inf, math.nan])
_OPS: dict[str, Any] = {
    "mul": lambda x, number: x * number,
    "add": lambda x, number: x + number,
    "relu": lambda x, _: tf.nn.relu(x),
    "square": lambda x, _: tf.square(x),
    "sum": lambda x, _: x - tf.reduce_sum(x),
    "matmul": lambda x, number: tf.reshape(tf.reshape(x, [-1, 10]) @ tf.fill([10, 10], number), [-1]),
    "reshape": lambda x, _: tf.reshape(tf.reshape(x, [10, -1]), [-1]),
}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([30, 6_000, 70_000]),
    _NUMBERS,
    st.lists(st.tuples(st.sampled_from(sorted(_OPS)), _NUMBERS), min_size=1, max_size=8),
)
def test_the_line_that_gives_a_bad_number_is_always_stopped_at(size, first, steps) -> None:
    made = tf.constant(np.full(size, first, np.float32))
    outside = [tf.constant(number, tf.float32) for _, number in steps]
    bad, x = False, made
    watching = _watched()
    front = next(watching)
    for (name, _), number in zip(steps, outside, strict=True):
        x = _OPS[name](x, number)
        bad = bad or not np.isfinite(x.numpy()).all()
        if bad:
            break
        assert not front.ends, name
    stopped = bool(front.ends)
    next(watching, None)
    assert stopped == bad


def test_what_comes_from_outside_is_looked_at_once(front, monkeypatch) -> None:
    looks: list[int] = []
    norm_bound = checks.norm_bound
    monkeypatch.setattr(checks, "norm_bound", lambda value: (looks.append(value.size), norm_bound(value))[1])
    batch, rate = tf.constant(np.ones(100_000, np.float32)), tf.constant(1e-4)
    for _ in range(5):
        _ = (batch * rate) * rate
    assert looks == [100_000, 1]
    assert not front.ends


def test_bounds_that_grew_from_layer_to_layer_end_at_a_tensor_that_is_looked_at_quickly(front, monkeypatch) -> None:
    looks: list[int] = []
    norm_bound = checks.norm_bound
    monkeypatch.setattr(checks, "norm_bound", lambda value: (looks.append(value.size), norm_bound(value))[1])
    weights = [tf.Variable(np.eye(300, dtype=np.float32)) for _ in range(8)]
    batch = tf.constant(np.ones((20, 300), np.float32))
    for turn in range(4):
        looks.clear()
        hidden, rate = batch, tf.constant(1e-9)
        for weight in weights:
            hidden = hidden @ weight
        for weight in weights:
            weight.assign_sub(rate * tf.matmul(hidden, hidden, transpose_a=True))
        assert turn == 0 or 90_000 not in looks
    assert not front.ends


_SIDE = 100
_LARGE_KINDS: dict[str, Any] = {
    "abs": tf.abs,
    "add": lambda x: x + 1.0,
    "add_n": lambda x: tf.add_n([x, x]),
    "bias_add": lambda x: tf.nn.bias_add(x, tf.ones(_SIDE)),
    "cast": lambda x: tf.cast(tf.cast(x, tf.float64), tf.float32),
    "concat": lambda x: tf.concat([x, x], 0),
    "conv": lambda x: tf.nn.conv2d(tf.reshape(x, [1, _SIDE, _SIDE, 1]), tf.ones([3, 3, 1, 1]), 1, "SAME"),
    "gather": lambda x: tf.gather(x, tf.range(_SIDE)),
    "matmul": lambda x: x @ tf.eye(_SIDE),
    "maximum": lambda x: tf.maximum(x, 0.5),
    "negative": tf.negative,
    "pad": lambda x: tf.pad(x, [[1, 1], [1, 1]]),
    "relu": tf.nn.relu,
    "reshape": lambda x: tf.reshape(x, [-1]),
    "reverse": lambda x: tf.reverse(x, [0]),
    "slice": lambda x: x[10:],
    "split": lambda x: tf.split(x, 2),
    "square": tf.square,
    "stack": lambda x: tf.stack([x, x]),
    "subtract": lambda x: 1.0 - x,
    "tanh": tf.tanh,
    "tile": lambda x: tf.tile(x, [2, 1]),
    "transpose": tf.transpose,
    "unstack": lambda x: tf.unstack(tf.reshape(x, [2, -1])),
    "where": lambda x: tf.where(tf.ones_like(x) > 0, x, 0.0),
}


@pytest.mark.parametrize("name", sorted(_LARGE_KINDS))
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_bad_element_amid_a_large_tensor_is_found_by_the_first_op_that_reads_it(front, name, bad) -> None:
    """However often the op ran on finite numbers, of which bounds are known."""
    values = np.ones((_SIDE, _SIDE), np.float32)
    for _ in range(3):
        _LARGE_KINDS[name](tf.constant(values))
    assert not front.ends
    values[_SIDE - 1, _SIDE - 1] = bad
    given = _LARGE_KINDS[name](tf.constant(values))
    flat = np.concatenate([np.ravel(part) for part in (given if isinstance(given, list) else [given])])
    assert bool(front.ends) == (not np.isfinite(flat).all())


def test_a_product_with_a_large_variable_that_overflows_is_found(front) -> None:
    """What is known of the variable counts where TensorFlow reads it on the way, too."""
    weight = tf.Variable(np.ones((_SIDE, _SIDE), np.float32))
    batch = tf.constant(np.full((_SIDE, _SIDE), 1e20, np.float32))
    weight.assign(tf.fill([_SIDE, _SIDE], 3.0))
    assert float(tf.multiply(batch, weight)[0, 0]) == np.float32(3e20)
    assert not front.ends
    weight.assign(tf.fill([_SIDE, _SIDE], 1e20))
    assert not front.ends
    assert np.isinf(tf.multiply(batch, weight).numpy()).all()
    assert front.ends[0].run.tensors[-1].op_type == "Mul"


def test_few_norms_are_kept_from_run_to_run(monkeypatch) -> None:
    monkeypatch.setattr(checks, "_FEW", 50)
    known: list[int] = []
    norm_kept = checks.Checks.run_ends

    def run_ends(self: checks.Checks) -> None:
        norm_kept(self)
        known.append(len(self._norms) + len(self._before))

    monkeypatch.setattr(checks.Checks, "run_ends", run_ends)
    watching = _watched()
    next(watching)
    x = tf.ones(30)
    for _ in range(40):
        for _each in range(10):
            x = x * 1.0
    next(watching, None)
    assert len(known) >= 30
    assert max(known) < 150, "two times those of a run beyond 50"
