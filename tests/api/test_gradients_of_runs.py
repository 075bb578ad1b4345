"""What `lt --role gradient` and key W list of real training steps: gradients, and nothing that only serves them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.prompt import Prompt
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.dtypes import may_have_fractions
from tfdbg_cli.model.runs import RunEnd

pytestmark = pytest.mark.tf
X = np.linspace(0.1, 1, 24, dtype=np.float32).reshape(8, 3)
SERVING = {"Const", "Shape", "Rank", "Size", "BroadcastGradientArgs", "Greater", "OnesLike", "ZerosLike"}


@pytest.fixture
def tf() -> Any:
    import tensorflow as tf

    return tf


@pytest.fixture
def front(front: ScriptedFrontend) -> ScriptedFrontend:
    """The front end of these tests captures the first run."""
    front.script = [DebugRun()]
    return front


def _check(stop: RunEnd, variables: set[tuple[int, ...]]) -> None:
    """The list holds a gradient of each of `variables`, told by their shapes, and no more than gradients."""
    prompt = Prompt(stop)
    listed = prompt.data("lt --role gradient -s worst")["tensors"]
    assert variables <= {tuple(tensor["shape"]) for tensor in listed}
    assert all(may_have_fractions(tensor["dtype"]) for tensor in listed)
    assert not SERVING & {tensor["op_type"] for tensor in listed}
    assert {tensor["role"] for tensor in listed} == {"gradient"}
    served = [tensor for tensor in prompt.data("lt")["tensors"] if tensor["role"] is None]
    with_fractions = {tensor["op_type"] for tensor in served if may_have_fractions(tensor["dtype"])}
    assert served and with_fractions <= SERVING | {"Cast", "Fill"}
    assert len(prompt.data("lt -q 'role=grad'")["tensors"]) == len(listed)
    rows = {row["value"]: row["tensors"] for row in prompt.data("frequencies role")["values"]}
    assert rows["gradient"] == len(listed) and rows[""] == len(served)


def test_a_function_with_a_tape(tf: Any, front: ScriptedFrontend) -> None:
    kernel, shift = tf.Variable(tf.ones([3, 4])), tf.Variable(tf.ones([4]))

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, kernel) + shift)
            rows = tf.cast(tf.shape(x)[0], tf.float32)
            loss = tf.reduce_sum(tf.math.log(hidden) * tf.reduce_mean(hidden, axis=0)) / rows
        for variable, gradient in zip((kernel, shift), tape.gradient(loss, [kernel, shift]), strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss

    with tf_debug.debugging():
        step(X)
    _check(front.ends[0], {(3, 4), (4,)})


def test_a_session_with_an_optimizer(tf: Any, front: ScriptedFrontend) -> None:
    v1 = tf.compat.v1
    with v1.Graph().as_default():
        x = v1.placeholder("float32", [None, 3])
        kernel = v1.get_variable("kernel", [3, 4], initializer=v1.ones_initializer(), use_resource=True)
        hidden = v1.nn.relu(v1.matmul(x, kernel))
        loss = v1.reduce_mean(v1.square(hidden) / v1.reduce_mean(hidden))
        train = v1.train.AdamOptimizer(0.1).minimize(loss)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            with tf_debug.debugging():
                session.run([train, loss], {x: X})
    _check(front.ends[0], {(3, 4)})


def test_a_step_of_fit(tf: Any, front: ScriptedFrontend) -> None:
    import keras

    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(2)])
    model.compile(optimizer="adam", loss="mse", jit_compile=False)
    with tf_debug.debugging():
        model.fit(X, X[:, :2], batch_size=8, epochs=1, verbose=0)
    _check(front.ends[0], {(3, 4), (4,), (4, 2), (2,)})
