"""Random ops that count in variables give, call after call, what those that count in their kernels give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.functions.calling.counted_draws import draws_to_tell_when_left_alone
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import Continue, DebugRun, Decision, OnBenign, RunUntil

pytestmark = pytest.mark.tf

SEEDS = st.integers(-(2**63), 2**63 - 1)
raw = tf.raw_ops


def _bits(tensors: Any) -> list[bytes]:
    return [tensor.numpy().tobytes() for tensor in tf.nest.flatten(tensors)]


def _alike(make: Callable[[], Any], *calls: Any, decisions: Sequence[Decision]) -> None:
    """Compare calls of two functions that `make` makes alike, of which one is debugged by `decisions`."""
    plain, debugged = make(), make()
    expected = [_bits(plain(call)) for call in calls]
    front = ScriptedFrontend(*decisions)
    undo = intercept_all_functions(Debugger(lambda: front))
    try:
        assert [_bits(debugged(call)) for call in calls] == expected
    finally:
        undo()


@given(SEEDS, SEEDS, st.lists(st.integers(0, 700), min_size=1, max_size=3))
@settings(max_examples=12, deadline=None)
def test_every_kind_of_op_and_of_number_with_any_seed(seed: int, seed2: int, lengths: list[int]) -> None:
    seeds = {"seed": seed, "seed2": seed2 or 1}  # without any they are not to be repeated

    def make() -> Any:
        @tf.function
        def draw(n: Any) -> Any:
            shape = tf.stack([n, 3])
            return (
                [raw.RandomUniform(shape=shape, dtype=one, **seeds) for one in (tf.float16, tf.float32, tf.float64)],
                [raw.RandomStandardNormal(shape=[2, 5], dtype=one, **seeds) for one in (tf.bfloat16, tf.float32)],
                raw.TruncatedNormal(shape=shape, dtype=tf.float64, **seeds),
                [raw.RandomUniformInt(shape=shape, minval=low, maxval=90, **seeds) for low in (2, np.int64(-5))],
            )

        return draw

    _alike(make, *map(tf.constant, lengths), decisions=[Continue()])


@pytest.mark.parametrize(
    "decisions",
    [
        [Continue()],
        [DebugRun(times=3), DebugRun(), Continue()],
        [DebugRun(), Continue()],
        [RunUntil("has_inf_or_nan", benign=OnBenign.SKIP)],
        [DebugRun(), RunUntil("bad_result"), Continue()],
    ],
    ids=["left alone", "the third", "the first", "watched, going past", "one way and another"],
)
def test_whichever_calls_are_captured_watched_or_left_alone(decisions: list[Any]) -> None:
    """A blind test's program with dropout: a watch that went past a mask of -inf drew other numbers from there on."""

    def make() -> Any:
        tf.random.set_seed(5)

        @tf.function
        def noisy(x: Any) -> Any:
            return tf.nn.dropout(x, 0.5)

        @tf.function
        def step(x: Any) -> Any:
            masked = tf.maximum(tf.math.log(tf.cast(x > 0.5, tf.float32)), -9.0)
            both = noisy(x) + 2.0 * noisy(x)
            for _ in tf.range(2):
                both += tf.random.normal([], seed=1)
            branch = tf.cond(x[0] > 0.5, lambda: tf.random.uniform([2]), lambda: tf.random.normal([2]))
            return both, branch, masked

        return step

    _alike(make, *(tf.constant([n % 3 / 3, 0.9], tf.float32) for n in range(7)), decisions=decisions)


def test_who_leaves_is_told_that_the_function_itself_begins_anew() -> None:
    @tf.function
    def counted_elsewhere(x: Any) -> Any:
        return x + tf.random.uniform([2], seed=3)

    draws_to_tell_when_left_alone()  # of those of other tests
    front = ScriptedFrontend(Continue())
    undo = intercept_all_functions(Debugger(lambda: front))
    try:
        counted_elsewhere(tf.constant(1.0))
    finally:
        undo()
    said = draws_to_tell_when_left_alone()
    assert said.startswith("counted_elsewhere has random ops that count inside their kernels"), said
    assert draws_to_tell_when_left_alone() == ""
