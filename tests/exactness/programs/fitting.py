"""Programs that call `fit` of Keras 3 and of tf_keras, with what their callbacks are told after every batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from exactness.courses import Build, Plant, Program, variables
from exactness.programs.planting import batches, hidden, joined, labels

Data: TypeAlias = Callable[[int], tuple[Any, Any]]  # x and y of so many steps, one behind the other


def fitted(keras: Any, model: Any, data: Data, batch: int, callbacks: Sequence[Any] = ()) -> Program:
    """`model`, compiled, in one call of `fit` of so many steps. `keras` is `keras` or `tf_keras`."""

    def results(steps: int) -> Iterator[Any]:
        seen: list[Any] = []
        told = keras.callbacks.LambdaCallback(on_train_batch_end=lambda _, logs: seen.append(dict(logs)))
        x, y = data(steps)
        error = None
        try:
            model.fit(x, y, batch_size=batch, shuffle=False, verbose=0, callbacks=[*callbacks, told])
        except Exception as raised:  # noqa: BLE001  # given on behind the results that it followed
            error = raised
        yield from seen
        if error is not None:
            raise error

    return Program(results, lambda: variables(model, model.optimizer))


def hiding(keras: Any) -> Any:
    """A layer that gives about what it is given, and is the one that meets what is planted."""

    class Hiding(keras.layers.Layer):  # type: ignore[name-defined, misc]
        def call(self, x: Any) -> Any:
            return hidden(x)

    return Hiding()


def two_dense(optimizer: Callable[[], Any], activation: str = "relu", **compiled: Any) -> Build:
    """`fit` of two Dense layers of Keras 3."""
    import keras

    def build(plant: Plant) -> Program:
        layers = keras.layers
        model = keras.Sequential([keras.Input((8,)), hiding(keras), layers.Dense(16, activation), layers.Dense(1)])
        model.compile(optimizer(), "mse", **compiled)
        return fitted(keras, model, lambda steps: _regression(plant, steps), 32)

    return build


def residual(plant: Plant) -> Program:
    """`fit` of a network whose batch is a term of a sum of three, beside those of a layer normalization.

    The layer computes as that of Keras before 3.16, and each step takes its batch out of the iterator, as there.
    """
    import keras
    import tensorflow as tf

    class Normalization(keras.layers.Layer):  # type: ignore[name-defined, misc]
        def build(self, shape: Sequence[int]) -> None:
            self.gamma = self.add_weight((shape[-1],), "ones", name="gamma")
            self.beta = self.add_weight((shape[-1],), "zeros", name="beta")

        def call(self, x: Any) -> Any:
            mean = tf.reduce_mean(x, -1, keepdims=True)
            variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
            scale = tf.math.rsqrt(variance + 1e-6) * self.gamma
            return x * scale + (self.beta - mean * scale)

    class Drawing(keras.Model):  # type: ignore[name-defined, misc]
        def make_train_function(self, force: bool = False) -> Any:
            self.train_function = tf.function(lambda iterator: self.train_step(next(iterator)))
            return self.train_function

    given = keras.Input((8,))
    together = Normalization()(hiding(keras)(given)) + given
    model = Drawing(given, keras.layers.Dense(1)(together))
    model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=False)
    return fitted(keras, model, lambda steps: _regression(plant, steps), 32)


def _regression(plant: Plant, steps: int) -> tuple[Any, Any]:
    return joined(batches(plant, steps, 32, 8)), joined(labels(steps, 32, 1))
