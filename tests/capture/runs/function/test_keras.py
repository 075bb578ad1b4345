"""Keras under the debugger: the same weights, bit by bit, and a run for every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.libraries import library

from tfdbg_cli.model.decision import Continue, DebugRun, RunUntil
from tfdbg_cli.model.sources import user_frame

pytestmark = pytest.mark.tf
X = np.random.default_rng(0).random((20, 4)).astype("float32")
Y = X.sum(axis=1)


LIBRARIES = ("keras", "tf_keras")


@pytest.fixture(params=LIBRARIES)
def keras(request: pytest.FixtureRequest) -> Iterator[Any]:
    module = library(request.param)
    # In tf_keras TensorFlow fuses a MatMul with what follows, and rounds otherwise; capture keeps it from that.
    tf.config.optimizer.set_experimental_options({"remapping": request.param == "keras"})
    yield module
    tf.config.optimizer.set_experimental_options({"remapping": True})
    # Keras would free memory at once, too, which takes up to some seconds; Python does when there is need.
    module.backend.clear_session(**({"free_memory": False} if request.param == "keras" else {}))


def model_of(keras: Any, *layers: Any, optimizer: str = "adam", **options: Any) -> Any:
    model = keras.Sequential([keras.layers.Input((4,)), *layers, keras.layers.Dense(1)])
    model.compile(optimizer, "mse", **options)
    return model


def layers_of(keras: Any) -> list[Any]:
    return [keras.layers.Dense(8, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dropout(0.3)]


def fitted(keras: Any, samples: int = 20, **options: Any) -> list[Any]:
    keras.utils.set_random_seed(3)
    model = model_of(keras, *layers_of(keras), **options)
    model.fit(X[:samples], Y[:samples], batch_size=4, epochs=1, shuffle=False, verbose=0)
    return list(model.get_weights())


_OPTIONS = {"graph": {}, "steps": {"steps_per_execution": 2}, "eager": {"run_eagerly": True}}
_SLOW = {("tf_keras", "steps")}  # both libraries make one loop of them


@pytest.mark.parametrize(
    ("keras", "options"),
    [
        pytest.param(library, options, id=f"{library}-{name}", marks=[pytest.mark.slow] * ((library, name) in _SLOW))
        for library in LIBRARIES
        for name, options in _OPTIONS.items()
    ],
    indirect=["keras"],
)
def test_the_weights_after_five_steps_are_the_same_bit_by_bit(keras, watched, options) -> None:
    plain = fitted(keras, **options)
    watch = RunUntil("has_inf_or_nan")
    if keras.__name__ == "keras":
        # How Keras makes its steps matters to what is captured and checked, both in one fit: tracing takes longest.
        # The rest is asked of one way alone.
        further = [] if options else [[RunUntil("bad_result")], [Continue()]]
        scripts = [[DebugRun(), DebugRun(), watch], *further]
    else:  # counts in kernels what it draws, so that a fit is to be debugged in one way from its beginning
        scripts = [[DebugRun()] * (4 if "steps_per_execution" in options else 6), [watch]]
    for script in scripts:
        with watched(*script) as front:
            debugged = fitted(keras, **options)
        for before, now in zip(plain, debugged, strict=True):
            assert before.tobytes() == now.tobytes()
        captured = script.count(DebugRun())
        assert len(front.ends) == (captured if watch in script else max(captured - 1, 0))
        assert all(len(end.run.tensors) > 100 for end in front.ends)


def test_every_way_to_run_a_model_is_seen_and_nothing_else(keras, watched) -> None:
    model = model_of(keras, keras.layers.Dropout(0.3), optimizer="sgd")
    with watched(*[DebugRun()] * 20) as front:
        model.fit(X, Y, batch_size=10, verbose=0, validation_data=(X, Y), validation_batch_size=10)
        model.evaluate(X, Y, batch_size=20, verbose=0)
        model.predict(X, batch_size=20, verbose=0)
        model.train_on_batch(X, Y)
        model.test_on_batch(X, Y)
        model.predict_on_batch(X)
    assert len(front.ends) == 2 + 2 + 1 + 1 + 1 + 1 + 1
    assert all("seed" not in end.run.call.function for end in front.ends)


def test_a_custom_train_step_and_layer_lead_to_the_users_lines(watched) -> None:
    import keras

    class Share(keras.layers.Layer):
        def call(self, x):
            return x / tf.reduce_sum(x, axis=-1, keepdims=True)  # the division

    class Model(keras.Sequential):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True)[:, 0] - y) ** 2)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss}

    model = Model([keras.layers.Input((4,)), Share(), keras.layers.Dense(1)])
    model.compile("sgd")
    x = X.copy()
    x[13] = 0
    with watched(RunUntil("has_inf_or_nan")) as front:
        model.fit(x, Y, batch_size=5, shuffle=False, verbose=0)
    (end,) = front.ends
    assert end.run.call.number == 3
    from tfdbg_cli.analysis.origin.search import OriginSearch

    origin = OriginSearch(end.run).first()
    assert origin is not None
    assert origin.op_type == "RealDiv"
    assert origin.batch_rows == (3,)
    assert origin.frame is not None and "# the division" in origin.frame.text
    frame = user_frame(end.run.tracebacks[origin.name.node])
    assert frame is not None and frame.file == __file__


def test_mixed_precision(watched) -> None:
    import keras

    keras.mixed_precision.set_dtype_policy("mixed_float16")
    try:
        plain = fitted(keras, 8, optimizer="sgd")
        with watched(*[DebugRun()] * 9) as front:
            debugged = fitted(keras, 8, optimizer="sgd")
    finally:
        keras.mixed_precision.set_dtype_policy("float32")
    for before, now in zip(plain, debugged, strict=True):
        assert before.tobytes() == now.tobytes()
    store = front.ends[0].run.tensors
    assert "float16" in {store[row].dtype for row in range(len(store))}


def test_recurrent_layers_show_each_turn(watched) -> None:
    import keras

    def fit() -> list[Any]:
        keras.utils.set_random_seed(3)
        cells = keras.layers.LSTM(3, unroll=False, use_cudnn=False)
        model = keras.Sequential([keras.layers.Input((6, 2)), cells, keras.layers.Dense(1)])
        model.compile("sgd", "mse", jit_compile=False)
        data = np.random.default_rng(1).random((8, 6, 2)).astype("float32")
        model.fit(data, data.sum(axis=(1, 2)), batch_size=4, shuffle=False, verbose=0)
        return list(model.get_weights())

    plain = fit()
    with watched(*[DebugRun()] * 9) as front:
        debugged = fit()
    for before, now in zip(plain, debugged, strict=True):
        assert before.tobytes() == now.tobytes()
    store = front.ends[0].run.tensors
    assert max(store[row].execution for row in range(len(store)) if store[row].op_type == "MatMul") == 5
