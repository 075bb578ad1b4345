"""Steps that are given a NaN which oneDNN's fused ReLU makes 0, made plainly and watched; what they give as JSON."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from support.scripted import ScriptedFrontend
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil

X = np.random.default_rng(0).normal(size=(6, 16, 4)).astype(np.float32)
X[3, 2, 1] = np.nan
Step = Callable[[], Any]


class _Layer:
    def __init__(self) -> None:
        self.kernel = tf.Variable(np.linspace(-1, 1, 32).reshape(4, 8).astype(np.float32))
        self.bias = tf.Variable(np.zeros(8, np.float32))

    def __call__(self, x: Any) -> Any:
        return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias))


def _printing(layer: _Layer, place: Path) -> Step:
    batches = iter(X)

    @tf.function
    def step(x: Any) -> Any:
        tf.print("step", output_stream=f"file://{place / 'printed'}")
        made = tf.reduce_sum(layer(x))
        layer.bias.assign_add(1e-3 * tf.reduce_sum(layer(x), 0))
        return made

    return lambda: step(tf.constant(next(batches)))


def _calling_python(layer: _Layer, place: Path) -> Step:
    batches = iter(X)

    @tf.function
    def step(x: Any) -> Any:
        scale = tf.py_function(lambda: 2.0, [], tf.float32)
        layer.bias.assign_add(1e-3 * tf.reduce_sum(layer(x), 0))
        return tf.reduce_sum(layer(x)) * scale

    return lambda: step(tf.constant(next(batches)))


def _of_two_batches(layer: _Layer, place: Path) -> Step:
    """Two batches of one iterator, as with `steps_per_execution=2`."""
    batches = iter(tf.data.Dataset.from_tensor_slices(X))

    @tf.function
    def step(batches: Any) -> Any:
        made = 0.0
        for _ in range(2):
            hidden = layer(next(batches))
            layer.bias.assign_add(1e-3 * tf.reduce_sum(hidden, 0))
            made += tf.reduce_sum(hidden)
        return made

    return lambda: step(batches)


def _looking_up(layer: _Layer, place: Path) -> Step:
    """Draws a batch, and looks up by an index that only a NaN sends out of range; updates variables before that."""
    batches = iter(tf.data.Dataset.from_tensor_slices(X))
    count = tf.Variable(0.0)

    @tf.function
    def step(batches: Any) -> Any:
        hidden = layer(next(batches))
        count.assign_add(1.0)
        at = tf.where(tf.math.is_nan(hidden), 100, 0)
        layer.bias.assign_add(1e-3 * tf.reduce_sum(hidden, 0))
        return tf.reduce_sum(hidden) + tf.cast(tf.reduce_sum(tf.gather(tf.range(10), at)), tf.float32) + count

    return lambda: step(batches)


def _looking_up_with_large_variables(layer: _Layer, place: Path) -> Step:
    """The same, with a variable that is too large to be held before each call."""
    batches = iter(tf.data.Dataset.from_tensor_slices(X))
    sums = tf.Variable(np.zeros((1 << 18,), np.float32))

    @tf.function
    def step(batches: Any) -> Any:
        hidden = layer(next(batches))
        total = tf.reduce_sum(hidden)
        sums.assign(sums * 0.5 + total)
        at = tf.where(tf.math.is_nan(hidden), 100, 0)
        return total + tf.cast(tf.reduce_sum(tf.gather(tf.range(10), at)), tf.float32) + sums[0]

    return lambda: step(batches)


_STEPS = (_printing, _calling_python, _of_two_batches, _looking_up, _looking_up_with_large_variables)


def _given(make: Callable[[_Layer, Path], Step], place: Path) -> list[Any]:
    layer = _Layer()
    step = make(layer, place)
    found: list[Any] = []
    for _ in range(3 if make is _of_two_batches else 6):
        found += [repr(float(step())), repr(layer.bias.numpy().tolist())]
    return found


def main() -> None:
    """Print, for each kind of step, what it gives plainly and watched, and how often the watch stopped."""
    told = {}
    with tempfile.TemporaryDirectory() as place:
        for make in _STEPS:
            plain = _given(make, Path(place))
            front = ScriptedFrontend(RunUntil("has_inf_or_nan"), RunUntil("has_inf_or_nan"))
            front.debugger = Debugger(lambda front=front: front)
            undo = intercept_all_functions(front.debugger)
            try:
                watched = _given(make, Path(place))
            finally:
                undo()
            swallowed = not any("nan" in one for one in plain)
            name = make.__name__.removeprefix("_")
            told[name] = {"plain": plain, "watched": watched, "stops": len(front.ends), "swallowed": swallowed}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
