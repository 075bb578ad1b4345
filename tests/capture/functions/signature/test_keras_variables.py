"""The names of the variables that a function captured: Keras has better ones than TensorFlow."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import keras
import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.signature import keras_variables
from tfdbg_cli.capture.functions.signature.arguments import slots_of
from tfdbg_cli.capture.functions.signature.keras_variables import KERAS_VARIABLES, KerasVariables

pytestmark = [
    pytest.mark.tf,
    pytest.mark.skipif(not keras.__version__.startswith("3"), reason="Keras 2 names its variables in full."),
]


class Net(keras.Model):
    def __init__(self) -> None:
        super().__init__(name="net")
        self.first = keras.layers.Dense(2, name="first")
        self.second = keras.layers.Dense(2, name="second")

    def call(self, x: Any) -> Any:
        return self.second(self.first(x))


def _names(net: Any) -> list[str]:
    plain = tf.Variable(1.0, name="scale")
    graph = tf.function(lambda x: net(x) * plain).get_concrete_function(tf.ones([1, 2])).graph
    return [slot.argument.name for slot in slots_of(graph) if slot.argument.captured]


def test_of_a_subclassed_model_they_have_the_names_of_the_layers() -> None:
    """A blind test: they were net/kernel, net/kernel_1 and so on, and `lv` asked whether they were made twice."""
    net = Net()
    layers = ["net/first/kernel", "net/first/bias", "net/second/kernel", "net/second/bias"]
    assert sorted(_names(net)) == sorted([*layers, "scale"])
    assert [one.path for one in net.variables] == layers
    assert len({one.value.name for one in net.variables}) < len(layers)  # else TensorFlow's own names would do


def test_a_path_that_is_no_name_for_an_op_is_left_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error amid the building of a layer Keras goes on in the scope of that layer, whatever it is called."""
    net = Net()
    net(tf.ones([1, 2]))
    monkeypatch.setattr(type(net.first.kernel), "path", property(lambda one: f"the net: {one.name}"))
    assert not any(" " in name or ":" in name for name in _names(net))


def test_no_variable_of_keras_is_asked_for_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has none yet would make it, and amid a layer it would be cast: ops that no program asked for."""

    class Asked:
        @property
        def value(self) -> Any:
            raise AssertionError("asked for")

    monkeypatch.setattr(keras_variables, "living_objects", lambda *kinds: [Asked()])
    monkeypatch.setattr(keras_variables, "OUR_ERRORS_SUPPRESSED", nullcontext())
    assert KerasVariables().paths([tf.Variable(1.0)]) == {}


def test_they_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Net()
    before = _names(net)
    values = [one.value for one in net.variables]
    monkeypatch.setattr(keras_variables, "living_objects", lambda *kinds: 1 / 0)
    assert set(KERAS_VARIABLES.paths(values).values()) == set(before) - {"scale"}
    net.first.trainable = False
    assert KERAS_VARIABLES.frozen(values) == {id(one.value) for one in net.first.variables}
