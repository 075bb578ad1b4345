"""What a function does outside of itself, and the updates before that, happen once and in order in every mode."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.model.decision import Continue, DebugRun, Decision, RunUntil, Values

pytestmark = pytest.mark.tf

STEPS = 4
MODES: dict[str, tuple[Decision, ...]] = {
    "watched": (RunUntil("has_inf_or_nan"),),
    "hits": tuple(RunUntil("magnitude_above:-0.5") for _ in range(2 * STEPS)),
    "hits, kept": tuple(RunUntil("magnitude_above:-0.5", values=Values.KEEP) for _ in range(2 * STEPS)),
    "hits of NaN": tuple(RunUntil("has_inf_or_nan") for _ in range(2 * STEPS)),
    "captured": tuple(DebugRun() for _ in range(2 * STEPS)),
    "kept": tuple(DebugRun(values=Values.KEEP) for _ in range(2 * STEPS)),
}


class Step:
    """A function that updates a variable, does something outside, and updates it once more."""

    def __init__(self, kind: str) -> None:
        self.w = tf.Variable(0.0)
        self.asked: list[float] = []
        self.batches = iter(tf.data.Dataset.from_tensor_slices(np.arange(50, dtype=np.float32)))
        self.call = tf.function(self._step, autograph=False)
        self._kind = kind

    def _answer(self, a: Any) -> Any:
        self.asked.append(float(a))
        return np.float32(float(a) * 2)

    def _step(self, x: Any) -> Any:
        self.w.assign_add(100.0)
        match self._kind:
            case "print":
                tf.print("PRINTED", x)
                drawn = x * 2.0
            case "Print":
                drawn = tf.raw_ops.Print(input=x * 2.0, data=[x], message="PRINTED")
            case "numpy":
                drawn = tf.ensure_shape(tf.numpy_function(self._answer, [self.w + x], tf.float32), [])
            case "python":
                drawn = tf.ensure_shape(tf.py_function(self._answer, [self.w + x], tf.float32), [])
            case "assert":
                tf.debugging.assert_less(x, 1e9)
                drawn = x * 2.0
            case _:
                drawn = next(self.batches) + x
        self.w.assign(self.w * 0.5 + drawn)
        return tf.math.log(x - 2.0) + drawn, self.w + 0.0

    def steps(self) -> list[Any]:
        found: list[Any] = []
        for x in range(STEPS):
            values = self.call(tf.constant(float(x)))
            found.append([np.asarray(value).tobytes() for value in (*values, self.w)])
        return [found, self.asked]


@cache
def _undebugged(kind: str) -> list[Any]:
    """What it gives undebugged, which is the same for every mode."""
    return Step(kind).steps()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["print", "Print", "numpy", "python", "assert", "batch"])
def test_effects_and_updates_happen_once_and_in_order(watched: Callable[..., Any], capfd, kind, mode) -> None:
    expected = _undebugged(kind)
    capfd.readouterr()
    step = Step(kind)
    with watched(*MODES[mode], Continue()) as front:
        assert step.steps() == expected
    assert capfd.readouterr().err.count("PRINTED") == (STEPS if "rint" in kind else 0)
    assert front.ends
    for end in front.ends:
        assert not end.run.exactness.differs
        assert not end.run.exactness.strays
