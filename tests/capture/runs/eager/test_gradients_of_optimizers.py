"""Gradients of eager code are known by the variables that they serve to update, whichever optimizer does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from support.libraries import library
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.many_runs.trends import trends
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.series import Quantity

pytestmark = pytest.mark.tf

Variables = Sequence[tf.Variable]
Apply = Callable[[Sequence[Any], Variables], None]


def _keras(optimizer: Any) -> Apply:
    return lambda gradients, variables: optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))


def _keras_2() -> Any:
    return library("tf_keras")


def _clipped_by_hand(gradients: Sequence[Any], variables: Variables) -> None:
    clipped, norm = tf.clip_by_global_norm(gradients, 0.5)
    _told = tf.sqrt(norm), tf.reduce_max(clipped[0])
    for variable, gradient in zip(variables, clipped, strict=True):
        variable.assign_sub(0.1 * gradient)


class _Momentum:
    """Updates by hand, with a momentum in float64."""

    def __init__(self) -> None:
        self.kept: list[tf.Variable] = []

    def __call__(self, gradients: Sequence[Any], variables: Variables) -> None:
        self.kept = self.kept or [tf.Variable(tf.zeros(one.shape, tf.float64)) for one in variables]
        for kept, variable, gradient in zip(self.kept, variables, gradients, strict=True):
            kept.assign(kept * 0.9 + tf.cast(gradient, tf.float64))
            variable.assign(variable - 0.1 * tf.cast(kept, tf.float32))


_V1 = tf.compat.v1.train
OPTIMIZERS: dict[str, Callable[[], Apply]] = {
    "keras_sgd": lambda: _keras(keras.optimizers.SGD(0.1)),
    "keras_nesterov": lambda: _keras(keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)),
    "keras_adam": lambda: _keras(keras.optimizers.Adam(0.1)),
    "keras_amsgrad_clipped": lambda: _keras(keras.optimizers.Adam(0.1, amsgrad=True, clipnorm=0.1)),
    "keras_adam_clipped_by_all": lambda: _keras(keras.optimizers.Adam(0.1, global_clipnorm=0.5)),
    "keras_adamw": lambda: _keras(keras.optimizers.AdamW(0.1)),
    "keras_rmsprop": lambda: _keras(keras.optimizers.RMSprop(0.1, centered=True)),
    "keras_lion": lambda: _keras(keras.optimizers.Lion(0.1)),
    "keras_average": lambda: _keras(keras.optimizers.Adam(0.1, use_ema=True)),
    "keras_accumulated": lambda: _keras(keras.optimizers.Adam(0.1, gradient_accumulation_steps=2)),
    "tf_keras_sgd": lambda: _keras(_keras_2().optimizers.SGD(0.1, momentum=0.9)),
    "tf_keras_adam": lambda: _keras(_keras_2().optimizers.Adam(0.1)),
    "tf_keras_adamw": lambda: _keras(_keras_2().optimizers.AdamW(0.1, global_clipnorm=0.5)),
    "legacy_sgd": lambda: _keras(_keras_2().optimizers.legacy.SGD(0.1, momentum=0.9)),
    "legacy_adam": lambda: _keras(_keras_2().optimizers.legacy.Adam(0.1, clipnorm=0.5)),
    "v1_adam": lambda: _keras(_V1.AdamOptimizer(0.1)),
    "v1_momentum": lambda: _keras(_V1.MomentumOptimizer(0.1, 0.9)),
    "by_hand_clipped": lambda: _clipped_by_hand,
    "by_hand_momentum": _Momentum,
}


def _second_turn(variables: Variables, loss_of: Callable[[], Any], apply: Apply) -> tuple[Run, list[Any]]:
    """The second of three steps, as a run with all its values, and the gradients of that step."""
    front = ScriptedFrontend(DebugRun(times=2))
    debugger = Debugger(lambda: front)
    debugger.attendant = watch = watch_of(debugger)
    watch.attend(True)
    made: list[Any] = []
    try:
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = loss_of()
            gradients = tape.gradient(loss, variables)
            made.append(gradients)
            apply(gradients, variables)
    finally:
        watch.end()
        debugger.attendant = None
        watch.attend(False)
    return front.ends[0].run, made[1]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_gradient_is_known_by_its_variable(name: str) -> None:
    """The variables have the same shape, and no layers. A gradient with respect to the data is none of them."""
    chance = np.random.default_rng(1)
    first, second = (tf.Variable(chance.normal(size=(3, 2)).astype("f"), name=name) for name in ("first", "second"))
    x, y = (tf.constant(chance.normal(size=(4, width)).astype("f")) for width in (3, 2))
    run, gradients = _second_turn(
        [first, second], lambda: tf.reduce_mean((x @ first - y) * tf.tanh(x @ second)), OPTIMIZERS[name]()
    )
    found = {(one.name, one.quantity): one.values for one in trends([run]).series}
    assert found.keys() == {(name, quantity) for name in ("first", "second") for quantity in Quantity}
    for variable, gradient in zip(("first", "second"), gradients, strict=True):
        assert found[variable, Quantity.GRADIENT] == pytest.approx([float(tf.norm(gradient))])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_gradients_and_updates_of_a_layer_of_keras_stand_in_it(name: str) -> None:
    layers: Any = _keras_2().layers if name.startswith(("tf_keras", "legacy", "v1")) else keras.layers
    dense = [layers.Dense(3, name=text) for text in ("first", "second")]
    x = tf.constant(np.random.default_rng(2).normal(size=(4, 3)).astype("f"))
    dense[1](dense[0](x))
    weights = [one for layer in dense for one in layer.trainable_variables]
    variables = [one if isinstance(one, tf.Variable) else one.value for one in weights]
    run, _ = _second_turn(variables, lambda: tf.reduce_mean(tf.tanh(dense[1](dense[0](x)))), OPTIMIZERS[name]())
    found = {(one.name, one.quantity) for one in trends([run]).series}
    assert found == {(name, quantity) for name in ("first", "second") for quantity in Quantity}
