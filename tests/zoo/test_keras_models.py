"""Keras and tf_keras: `fit` and its kin debugged give what they give undebugged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.launched import python
from support.libraries import require

from zoo.twins import Program, arrays, seeded, twins, witnessed

pytestmark = pytest.mark.tf

RNG = np.random.RandomState(1)
X = RNG.randn(20, 6, 4).astype(np.float32)
Y = RNG.randint(0, 3, 20)


def network(*kinds: str, optimizer: str = "sgd", eager: bool = False) -> Any:
    """Recurrent layers of these `kinds`, or one of the simplest: tracing them takes the time of these tests."""
    import keras

    layers = keras.layers
    kinds = kinds or ("SimpleRNN",)
    first, *others = (getattr(layers, kind)(5, return_sequences=kind != kinds[-1]) for kind in kinds)
    model = keras.Sequential([keras.Input((6, 4)), first, layers.Dropout(0.3), *others, layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["accuracy"], jit_compile=False, run_eagerly=eager)
    return model


def state_of(model: Any) -> list[Any]:
    parts = [*model.variables, *model.optimizer.variables, *model.metrics_variables]
    return [v.value for v in parts]


def test_fit_evaluate_and_predict() -> None:
    def build() -> Program:
        model = network()

        def step() -> Any:
            history = model.fit(X, Y, batch_size=5, epochs=1, validation_split=0.25, verbose=0).history
            evaluated = model.evaluate(X, Y, batch_size=10, verbose=0)
            return [history[key] for key in sorted(history)], evaluated, model.predict(X, batch_size=10, verbose=0)

        return Program(step, lambda: state_of(model))

    twins(build, 2, at_least=2 * (3 + 1 + 2 + 2))


def test_batches() -> None:
    def build() -> Program:
        model = network()
        step = lambda: (model.train_on_batch(X, Y), model.test_on_batch(X, Y), model.predict_on_batch(X))  # noqa: E731
        return Program(step, lambda: state_of(model))

    twins(build, 3, at_least=9)


def test_steps_per_execution_and_a_dataset() -> None:
    import tensorflow as tf

    def build() -> Program:
        model = network()
        model.compile("sgd", model.loss, jit_compile=False, steps_per_execution=2)
        data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(20, seed=3).map(lambda x, y: (x * 2.0, y)).batch(5)
        return Program(lambda: model.fit(data, verbose=0).history["loss"], lambda: state_of(model))

    twins(build, 2, at_least=4)


def test_custom_train_step() -> None:
    import keras
    import tensorflow as tf

    class Own(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = keras.layers.Dense(3)
            self.noise = keras.layers.GaussianNoise(0.1)

        def call(self, x: Any, training: bool = False) -> Any:
            return self.inner(self.noise(x[:, 0], training=training))

        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return {"loss": loss, "norm": tf.linalg.global_norm(variables)}

    def build() -> Program:
        model = Own()
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)

        def step() -> Any:
            history = model.fit(X, Y, batch_size=10, verbose=0).history
            return history["loss"], history["norm"]

        return Program(step, lambda: state_of(model))

    twins(build, 3, at_least=6)


def test_run_eagerly() -> None:
    def build() -> Program:
        model = network("LSTM", "GRU", optimizer="adam", eager=True)
        return Program(lambda: model.train_on_batch(X[:4], Y[:4]), lambda: state_of(model))

    twins(build, 3, at_least=3)


def test_fit_as_keras_compiles_it_by_itself() -> None:
    """`jit_compile="auto"`: on a CPU Keras asks for XLA."""
    import keras

    def build() -> Program:
        model = keras.Sequential([keras.Input((6, 4)), keras.layers.Flatten(), keras.layers.Dense(3)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return Program(
            lambda: model.fit(X, Y, batch_size=10, verbose=0, shuffle=False).history["loss"], lambda: state_of(model)
        )

    from zoo.twins import assert_close, assert_seen, course

    plain = course(seeded(build), 3)
    program = seeded(build)
    with witnessed() as witness:
        debugged = course(program, 3)
    assert_close(plain, debugged)
    assert_seen(witness, 6)


def test_exception_in_fit() -> None:
    """An index past the end of an embedding."""
    import keras

    model = keras.Sequential([keras.layers.Embedding(4, 2), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    x = np.array([[1, 2], [3, 9]])
    errors = []
    for _ in range(2):
        with pytest.raises(Exception, match="indices") as raised:
            model.fit(x, np.zeros(2), verbose=0)
        errors.append((type(raised.value), str(raised.value)))
    with witnessed() as witness, pytest.raises(Exception, match="indices") as raised:
        model.fit(x, np.zeros(2), verbose=0)
    errors.append((type(raised.value), str(raised.value)))
    assert errors[2] == errors[1] == errors[0]
    assert witness.runs[-1].error is not None


def test_saved_model() -> None:
    import tempfile

    import tensorflow as tf

    model = network()
    model.train_on_batch(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)

        def build() -> Program:
            loaded = tf.saved_model.load(folder)
            return Program(lambda: (loaded.serve(X), loaded.signatures["serving_default"](tf.constant(X))))

        twins(build, 3, at_least=6)


def test_saved_model_that_trains_on() -> None:
    """A loaded function, its gradients included, within an outer tape and within a new function."""
    import tempfile

    import tensorflow as tf

    module = tf.Module()
    module.weight = tf.Variable([[0.5, -0.5]])
    module.value = tf.function(lambda x: tf.tanh(x @ module.weight), input_signature=[tf.TensorSpec([None, 1])])
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)

        def build() -> Program:
            loaded = tf.saved_model.load(folder)
            x = tf.constant([[1.0], [2.0]])

            def step() -> Any:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(loaded.value(x) ** 2)
                gradient = tape.gradient(loss, loaded.weight)
                loaded.weight.assign_sub(0.1 * gradient)
                return loss, gradient, tf.function(lambda: loaded.value(x) * 2.0)()

            return Program(step, lambda: [loaded.weight])

        twins(build, 5, at_least=10)


@pytest.mark.slow
def test_tf_keras_fit() -> None:
    """In a process of its own: the older Keras beside the newer one.

    In the process of the tests tests/capture/runs/function/test_keras.py debugs `fit` and its kin of both, always.
    """
    require("tf_keras")
    script = Path(__file__).parent / "tf_keras_program.py"
    done = python(script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "identical"


def test_eager_loop() -> None:
    """Ops one by one, recorded by a wrapped callable."""
    import tensorflow as tf

    from zoo.twins import witnessed_function

    def loop(x: Any, weight: Any) -> Any:
        for _ in range(5):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.tanh(x * weight) ** 2) + tf.reduce_sum(tf.random.normal([2], seed=4))
            weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    found = []
    for wrap in (False, True):
        tf.random.set_seed(3)
        x, weight = tf.constant([1.0, 2.0]), tf.Variable([0.5, 0.7])
        if wrap:
            with witnessed_function(loop) as (wrapped, witness):
                loss = wrapped(x, weight)
            assert witness.count == 1
            assert len(witness.runs[0].tensors) > 50
        else:
            loss = loop(x, weight)
        found.append([array.tobytes() for array in arrays([loss, weight])])
    assert found[0] == found[1]
