"""A NaN that oneDNN's fused ReLU makes 0: a watched program goes on with that 0, also where nothing is made twice."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.checking.failing_of_nan import may_fail_of_nan
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.tf import compat

pytestmark = pytest.mark.tf


@functools.cache
def _found() -> dict[str, Any]:
    """What `support.fused_relu` tells of its steps; in a process that has oneDNN, which tests have not."""
    environment = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "support.fused_relu"], env=environment, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "step", ["printing", "calling_python", "of_two_batches", "looking_up", "looking_up_with_large_variables"]
)
def test_the_program_gets_what_it_gets_without_a_watch(step: str) -> None:
    found = _found()[step]
    if not found["swallowed"]:
        pytest.skip("This TensorFlow fuses no ReLU that takes NaN for 0.")
    assert found["watched"] == found["plain"]
    assert found["stops"], "the NaN is found all the same"


def _root(function: Any, *arguments: Any) -> Any:
    return TracedFunction(compat.atomic_of(function.get_concrete_function(*arguments))).root


def test_what_may_fail_of_a_relu() -> None:
    table = tf.range(10)

    @tf.function
    def metrics(x: Any, y: Any) -> Any:
        hidden = tf.nn.relu(x)
        right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(hidden, 1), y), tf.float32))
        return right + tf.reduce_sum(tf.reshape(hidden, (tf.size(hidden),))) + tf.reduce_sum(tf.zeros_like(hidden))

    @tf.function
    def lookup(x: Any, y: Any) -> Any:
        return tf.gather(table, tf.cast(tf.nn.relu(x), tf.int32))

    @tf.function
    def lookup_within(x: Any, y: Any) -> Any:
        hidden = tf.nn.relu(x)
        return tf.cond(tf.reduce_any(y > 0), lambda: tf.gather(table, tf.cast(hidden, tf.int32)), lambda: 0)

    @tf.function
    def embedding(x: Any, y: Any) -> Any:
        return tf.nn.relu(tf.gather(x, y)) + x

    @tf.function
    def asserting(x: Any, y: Any) -> Any:
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(tf.nn.relu(x) < 9), [x])]):
            return x + 1

    @tf.function
    def lookup_in_the_next_turn(x: Any, y: Any) -> Any:
        def body(turn: Any, value: Any, total: Any) -> Any:
            total += tf.reduce_sum(tf.gather(table, tf.cast(value, tf.int32)))
            return turn + 1, tf.nn.relu(value - 1.0), total

        return tf.while_loop(lambda turn, *_: turn < 3, body, (0, x, 0))[2]

    @tf.function
    def looping(x: Any, y: Any) -> Any:
        return tf.while_loop(lambda turn, _: turn < 3, lambda turn, value: (turn + 1, tf.nn.relu(value)), (0, x))[1]

    x, y = tf.ones((3, 3)), tf.zeros(3, tf.int64)
    fail = (lookup, lookup_within, asserting, lookup_in_the_next_turn)
    assert [may_fail_of_nan(_root(one, x, y)) for one in fail] == [True] * 4
    assert [may_fail_of_nan(_root(one, x, y)) for one in (metrics, embedding, looping)] == [False] * 3
