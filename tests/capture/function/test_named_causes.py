"""What `origin` says of small programs that TensorFlow runs: each way to a NaN, and beside it one that is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from asking import json_of, text_of

from tfdbg_cli.model.decision import RunUntil

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def tf2() -> Any:
    import tensorflow as tf

    return tf


@pytest.fixture
def origin(watched: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Calls a function under a watch: what `origin` says of the first bad run as JSON; empty where none was bad."""

    def find(function: Callable[..., Any], *given: Any, until: str = "has_inf_or_nan") -> dict[str, Any]:
        with watched(RunUntil(until)) as front:
            function(*given)
        if not front.ends:
            return {}
        command = "origin --nan" if until == "has_nan" else "origin"
        return {**json_of(command, front.ends[0]), "screen": text_of(command, front.ends[0], width=None)}

    return find


@pytest.mark.parametrize(
    ("op", "gradient", "cause", "suggestion"),
    [
        ("math.reciprocal", False, "1 / 1.19e-07 exceeds 6.55e+04, the largest float16", "tf.maximum(x, 1e-4)"),
        ("math.log", True, "1 / 1.19e-07 exceeds 6.55e+04, the largest float16", "tf.maximum(x, 1e-4)"),
        ("math.rsqrt", True, "its third power exceeds 6.55e+04", "x + 1e-2"),
        ("math.reciprocal", True, "its square exceeds 6.55e+04", "x + 1e-2"),
    ],
)
def test_what_float16_cannot_invert(tf2, origin, op, gradient, cause, suggestion) -> None:
    call = tf2
    for part in op.split("."):
        call = getattr(call, part)

    @tf2.function
    def step(x: Any) -> Any:
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        return tape.gradient(y, x) if gradient else y

    bad = 0.003 if gradient and op == "math.reciprocal" else 1.19e-7
    found = origin(step, tf2.constant([1, bad, 2], tf2.float16))
    assert cause in found["cause"]
    assert suggestion in found["suggestion"]
    assert not origin(step, tf2.constant([1, 0.05, 2], tf2.float16))
    least = np.float16(float(suggestion.replace(")", " ").replace(",", " ").split()[-1]))
    assert np.isfinite(step(tf2.constant([1, max(bad, least), 2], tf2.float16)).numpy()).all(), "what was suggested"


def test_labels_too_long_for_their_steps(tf2, origin) -> None:
    @tf2.function
    def loss(logits: Any, labels: Any) -> Any:
        steps = tf2.constant([3, 3])
        return tf2.compat.v1.nn.ctc_loss(labels, logits, steps, time_major=False)

    def labels(rows: list[list[int]]) -> Any:
        return tf2.sparse.from_dense(tf2.constant(rows))

    logits = tf2.zeros([2, 3, 6])
    found = origin(loss, logits, labels([[1, 2, 0], [1, 1, 1]]))
    assert found["cause"].startswith("Labels too long for the steps: at 1 element those in labels_1:0")
    assert found["batch_rows"] == [1]
    assert not origin(loss, logits, labels([[1, 2, 0], [1, 2, 1]]))
