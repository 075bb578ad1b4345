"""The answer of the watch on training steps of real models is that of looking at every value of the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.analysis.watch.filters import has_inf_or_nan
from tfdbg_cli.capture.controller import Action, PendingRun, Plan, WatchRequest
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import Values
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.runs import Run

pytestmark = [pytest.mark.tf, pytest.mark.slow]


# What the kernel of a normalization does not write.
_UNDEFINED = re.compile(r"FusedBatchNorm(Grad)?V3:[345]$")


class Comparing:
    """A controller that watches every run and looks at all of its values besides."""

    def __init__(self, values: Values) -> None:
        self.settings = Settings()
        self.answers: list[bool] = []
        self.notes: set[str] = set()
        self.wrong: list[str] = []
        self._values = values

    def run_starts(self, pending: PendingRun) -> Plan:
        watched = WatchRequest("has_inf_or_nan", has_inf_or_nan, values=self._values)
        return Plan(len(self.answers) + 1, Action.CAPTURE, True, watched=watched)

    def run_ends(self, plan: Plan, run: Run) -> bool:
        self._compare(run, run.caught)
        return False

    def run_passed(
        self, plan: Plan, make: Callable[[], Run], exactness: Exactness | None = None, looked_at: Hashable = None
    ) -> None:
        self._compare(make(), False)

    def run_abandoned(self, plan: Plan, make: Callable[[], Run] | None = None) -> None:
        self.wrong.append(f"run {plan.number} was abandoned")

    def _compare(self, run: Run, answer: bool) -> None:
        tensors = run.tensors
        bad = [str(tensors[row].name) for row in range(len(tensors)) if has_inf_or_nan(None, tensors.value(row))]
        bad = [name for name in bad if not _UNDEFINED.search(name)]
        if answer is not bool(bad):
            self.wrong.append(f"{run.call.title}: the watch says {answer}, the values say {bad[:5]}; {run.error}")
        if not len(tensors):
            self.wrong.append(f"{run.call.title} has no values: {run.notes}")
        self.answers.append(answer)
        self.notes |= set(run.notes)


@contextmanager
def _comparing(values: Values) -> Iterator[Comparing]:
    controller = Comparing(values)
    undo = intercept_all_functions(controller)
    try:
        yield controller
    finally:
        undo()
    assert not controller.wrong, "\n".join(controller.wrong)


def _dense() -> tuple[Any, Any]:
    layers = [keras.layers.Dense(8, "relu"), keras.layers.BatchNormalization(), keras.layers.Dropout(0.3),
              keras.layers.Dense(3)]  # fmt: skip
    return keras.Sequential([keras.Input((6,)), *layers]), (6,)


def _convolved() -> tuple[Any, Any]:
    layers = [keras.layers.Conv2D(4, 3, strides=2), keras.layers.BatchNormalization(), keras.layers.ReLU(),
              keras.layers.DepthwiseConv2D(3, padding="same"), keras.layers.AveragePooling2D(2),
              keras.layers.SeparableConv2D(4, 2), keras.layers.MaxPooling2D(), keras.layers.GlobalAveragePooling2D(),
              keras.layers.Dense(3)]  # fmt: skip
    return keras.Sequential([keras.Input((15, 14, 2)), *layers]), (15, 14, 2)


def _recurrent() -> tuple[Any, Any]:
    layers = [keras.layers.LSTM(5, return_sequences=True), keras.layers.GRU(4), keras.layers.LayerNormalization(),
              keras.layers.Dense(3)]  # fmt: skip
    return keras.Sequential([keras.Input((7, 4)), *layers]), (7, 4)


def _attentive() -> tuple[Any, Any]:
    given = keras.Input((5, 4))
    mixed = keras.layers.MultiHeadAttention(2, 3)(given, given, use_causal_mask=True)
    added = keras.layers.LayerNormalization()(mixed + given)
    return keras.Model(given, keras.layers.Dense(3)(keras.layers.Flatten()(added))), (5, 4)


@pytest.mark.parametrize("values", [Values.KEEP, Values.AUTO])
@pytest.mark.parametrize("make", [_dense, _convolved, _recurrent, _attentive])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_fit(make: Callable[[], tuple[Any, Any]], optimizer: str, values: Values) -> None:
    keras.utils.set_random_seed(1)
    model, shape = make()
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    _fit_with_plants(model, shape, values)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("values", [Values.KEEP, Values.AUTO])
def test_fit_in_mixed_precision(policy: str, values: Values) -> None:
    """The scaled loss of float16 overflows at first, and the optimizer skips those steps."""
    before = keras.mixed_precision.dtype_policy()
    keras.mixed_precision.set_dtype_policy(policy)
    try:
        model, shape = _dense()
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
        _fit_with_plants(model, shape, values)
    finally:
        keras.mixed_precision.set_dtype_policy(before)


@pytest.mark.parametrize("values", [Values.KEEP, Values.AUTO])
def test_fit_compiled_by_xla(values: Values) -> None:
    model, shape = _dense()
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=True)
    _fit_with_plants(model, shape, values)


def _fit_with_plants(model: Any, shape: Any, values: Values) -> None:
    random = np.random.RandomState(3)
    x, y = random.normal(size=(10, *shape)).astype(np.float32), random.randint(0, 3, 10)
    weights = model.get_weights()
    with _comparing(values) as watch:
        model.fit(x, y, batch_size=4, epochs=1, verbose=0)  # the last batch is smaller
        model.set_weights(weights)
        for bad in (np.nan, np.inf, -np.inf):
            spoiled = x.copy()
            spoiled.reshape(-1)[random.randint(spoiled.size)] = bad
            model.fit(spoiled, y, batch_size=10, epochs=1, verbose=0)
            model.set_weights(weights)
            poisoned = [value.copy() for value in weights]
            poisoned[random.randint(len(poisoned))].reshape(-1)[0] = bad
            model.set_weights(poisoned)
            model.fit(x, y, batch_size=10, epochs=1, verbose=0)
            model.evaluate(x, y, verbose=0)
            model.set_weights(weights)
    assert sum(watch.answers) >= 6
    assert not all(watch.answers) or model.dtype_policy.name == "mixed_float16"
    if values is Values.AUTO:
        assert any("made once more" in note for note in watch.notes), watch.notes


@pytest.mark.parametrize("values", [Values.KEEP, Values.AUTO])
def test_a_custom_loop_with_an_iterator_and_a_gradient_outside(values: Values) -> None:
    weight = tf.Variable(tf.ones([3, 2]))
    data = tf.data.Dataset.from_tensor_slices(np.array([[[1, 2, 3]], [[0, 0, 0]], [[1, -1, 0]]], np.float32))
    generator = tf.random.Generator.from_seed(1)

    @tf.function
    def loss_of(x: Any) -> Any:
        noise = generator.normal([2]) * 0.01 + tf.random.stateless_normal([2], [1, 2])
        return tf.reduce_sum(tf.norm(tf.matmul(x, weight) + 0.0 * noise, axis=1))

    @tf.function
    def step(iterator: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(next(iterator))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    with _comparing(values) as watch:
        for _ in range(2):
            iterator = iter(data)
            weight.assign(tf.ones([3, 2]))
            step(iterator)
            step(iterator)  # the norm of zeros: its gradient is NaN
            weight.assign(tf.ones([3, 2]))
            step(iterator)
        with tf.GradientTape() as tape:
            loss = loss_of(tf.zeros([1, 3]))
        tape.gradient(loss, weight)
    assert watch.answers[:4] == [False, True, True, False] or sum(watch.answers) >= 3, watch.answers
