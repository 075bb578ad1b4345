"""Gradients that a tape computes eagerly belong to the layers of the ops that they are of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun, RunUntil
from tfdbg_cli.model.graph import Graph

pytestmark = pytest.mark.tf


class Dense(tf.Module):
    """A layer as people write it without Keras."""

    def __init__(self, inputs: int, units: int, name: str) -> None:
        super().__init__(name=name)
        chance = np.random.default_rng(len(name))
        self.w = tf.Variable(chance.normal(size=(inputs, units)).astype("f"))
        self.b = tf.Variable(chance.normal(size=units).astype("f"))

    @tf.Module.with_name_scope
    def __call__(self, x: Any) -> Any:
        return tf.nn.relu(tf.nn.bias_add(tf.concat([x, x * 0.5], 1) @ self.w, self.b))


X = tf.constant(np.random.default_rng(0).normal(size=(4, 3)).astype("f"))


def _watched(step: Callable[[], Any]) -> Graph:
    """The graph of the run in which `step` made a NaN at its end."""
    decision = RunUntil("has_nan")
    front = ScriptedFrontend(decision, decision)
    debugger = Debugger(lambda: front)
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(decision)
    try:
        step()
        tf.math.log(tf.constant(-1.0))
    finally:
        debugger.attendant = None
        watch.attend(False)
    return front.ends[0].run.graph


def _captured(step: Callable[[], Any]) -> Graph:
    front = ScriptedFrontend(DebugRun())
    DebuggedFunction(step, Debugger(lambda: front))()
    return front.ends[0].run.graph


def _scopes(graph: Graph, *op_types: str) -> list[str]:
    """The scopes of the gradients of these types, in order."""
    tape = "gradient_tape/"
    names = [node.name for node in graph if node.op_type in op_types and node.name.startswith(tape)]
    return [name.removeprefix(tape).rpartition("/")[0] for name in names]


@pytest.mark.parametrize("shown", [_watched, _captured], ids=["watched", "recorded"])
def test_gradients_stand_in_the_layers_of_their_ops(shown) -> None:
    layers = [Dense(6, 6, "first"), Dense(12, 2, "second")]
    variables = [variable for layer in layers for variable in layer.trainable_variables]

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layers[1](layers[0](X)) ** 2)
        return tape.gradient(loss, variables)

    graph = shown(step)
    assert _scopes(graph, "ReluGrad", "BiasAddGrad") == ["second", "second", "first", "first"]
    assert _scopes(graph, "MatMul") == ["second", "second", "first"], "nothing asks for the gradient of the data"
    assert _scopes(graph, "Tile", "Pow") == ["", ""], "the loss is in no layer"


def test_gradients_of_layers_of_keras() -> None:
    model = keras.Sequential([keras.layers.Input((3,))])
    for name in ("one", "two"):
        model.add(keras.layers.Dense(3, activation="tanh", name=name))
        model.add(keras.layers.LayerNormalization(name=f"{name}_norm"))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(X))
        return tape.gradient(loss, model.trainable_variables)

    graph = _watched(step)
    scope = f"{model.name}/"
    assert [name.removeprefix(scope) for name in _scopes(graph, "BiasAddGrad", "TanhGrad")] == ["two"] * 2 + [
        "one"
    ] * 2
    assert {f"{scope}one_norm", f"{scope}two_norm"} <= set(_scopes(graph, "Mul", "Sum"))


def test_two_layers_that_read_the_same_are_told_apart_by_their_variables() -> None:
    beside = [Dense(6, 2, "left"), Dense(6, 3, "right")]
    found: list[Any] = []

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(beside[0](X)) + tf.reduce_sum(beside[1](X))
        found.extend(tape.gradient(loss, [layer.w for layer in beside]))
        return found

    front = ScriptedFrontend(DebugRun())
    DebuggedFunction(step, Debugger(lambda: front))()
    tensors = front.ends[0].run.tensors
    for row in range(len(tensors)):
        if tensors[row].name.node.startswith("gradient_tape/") and tensors[row].op_type == "MatMul":
            layer = tensors[row].name.node.split("/")[1]
            assert np.array_equal(tensors.value(row), found[layer == "right"])


def test_gradients_are_the_same_and_a_tape_is_as_before_in_the_end() -> None:
    layer = Dense(6, 2, "layer")

    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        return tf.identity(x), lambda slope: tf.clip_by_value(slope, -0.1, 0.1)

    def slopes() -> list[bytes]:
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(clipped(layer(X)) ** 2)
            first = inner.gradient(loss, layer.w)
            again = tf.reduce_sum(first**2)
        found = [first, *outer.gradient(again, [layer.w, layer.b]), outer.gradient(loss, layer.b)]
        return [np.asarray(each).tobytes() for each in found if each is not None]

    plain, watched = slopes(), []
    _watched(lambda: watched.extend(slopes()))
    assert watched == plain
    seen: list[str] = []

    def heard(op_type: str, *rest: Any) -> Any:
        seen.append(op_type)
        return compat.tape_gradient(op_type, *rest)

    compat.set_tape_gradient(heard)
    try:
        slopes()
    finally:
        compat.set_tape_gradient(compat.tape_gradient)
    assert "MatMul" in seen


def test_an_error_in_a_gradient_is_the_programs(capsys) -> None:
    @tf.custom_gradient
    def broken(x: Any) -> Any:
        def slope(_: Any) -> Any:
            raise KeyError("mine")

        return tf.identity(x), slope

    layer = Dense(6, 2, "layer")

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(broken(layer(X)))
        with pytest.raises(KeyError, match="mine"):
            tape.gradient(loss, layer.w)

    _watched(step)
    assert "could not" not in capsys.readouterr().err
