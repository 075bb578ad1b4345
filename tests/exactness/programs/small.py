"""Programs of a few ops, each with something that TensorFlow's optimizer makes another op of."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactness.courses import Plant, Program, stepwise, variables
from exactness.programs.planting import PLANTED, batches, hidden, labels


def scalar_sum(plant: Plant) -> Program:
    """A loss that is the sum of five scalars, none of which anything else reads."""
    import tensorflow as tf

    weight = tf.Variable(np.linspace(-1, 1, 8).astype(np.float32), name="weight")

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            h = hidden(x) * weight
            loss = (
                tf.reduce_sum(h**2) + tf.reduce_mean(tf.sin(h)) + tf.reduce_sum(tf.abs(weight)) * 0.1
                + tf.reduce_mean(tf.exp(-h)) + tf.reduce_logsumexp(h)
            )  # fmt: skip
        gradient = tape.gradient(loss, weight)
        weight.assign_sub(0.01 * gradient)
        return loss, gradient

    return _fed(step, plant, 4, 8, held=[weight])


def dense_gelu(plant: Plant) -> Program:
    """Dense with the approximate GELU, trained with a batch whose size the function does not know."""
    import keras
    import tensorflow as tf

    first = keras.layers.Dense(16, activation=lambda x: keras.activations.gelu(x, approximate=True))
    second = keras.layers.Dense(1)
    first.build((None, 8))
    second.build((None, 16))
    held = [*first.trainable_variables, *second.trainable_variables]

    @tf.function(input_signature=[tf.TensorSpec([None, 8]), tf.TensorSpec([None, 1])])
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((second(first(hidden(x))) - y) ** 2)
        for variable, gradient in zip(held, tape.gradient(loss, [v.value for v in held]), strict=True):
            variable.value.assign_sub(0.05 * gradient)
        return loss

    def at(number: int) -> Any:
        size = 5 + number % 3
        data = batches(Plant(0 if plant(number) else None), 1, size, 8, seed=number)[0]
        return step(tf.constant(data), tf.constant(labels(1, size, 1, seed=number)[0]))

    return Program(stepwise(at), lambda: variables(held))


def forward_over_reverse(plant: Plant) -> Program:
    """Products of a Hessian and a vector, by a forward accumulator around a tape; a step along them."""
    import tensorflow as tf

    numbers = np.random.RandomState(2)
    first = tf.Variable(numbers.normal(size=(8, 12)).astype(np.float32) * 0.3, name="first")
    second = tf.Variable(numbers.normal(size=(12, 1)).astype(np.float32) * 0.3, name="second")
    held = [first, second]
    along = [tf.constant(numbers.normal(size=v.shape).astype(np.float32)) for v in held]

    @tf.function(input_signature=[tf.TensorSpec([None, 8])])
    def step(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(held, along) as forward:
            with tf.GradientTape() as tape:
                h = tf.nn.gelu(hidden(x) @ first, approximate=True) @ second
                loss = tf.reduce_mean(h**2) + 0.01 * tf.reduce_sum(first**2)
            gradients = tape.gradient(loss, held)
        products = [forward.jvp(gradient) for gradient in gradients]
        for variable, gradient, product in zip(held, gradients, products, strict=True):
            variable.assign_sub(0.05 * gradient + 0.001 * product)
        return loss, products

    return _fed(step, plant, 6, 8, held=held)


def skipped_update(plant: Plant) -> Program:
    """Gradients that are not finite are replaced by zeros, as in many a training loop; NaN comes with the data."""
    import tensorflow as tf

    numbers = np.random.RandomState(4)
    first = tf.Variable(numbers.normal(size=(8, 16)).astype(np.float32) * 0.3, name="first")
    second = tf.Variable(numbers.normal(size=(16, 1)).astype(np.float32) * 0.3, name="second")
    rate = tf.Variable(0.05, name="rate")
    held = [first, second]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.nn.relu(tf.sqrt(x + 50) @ first) @ second - 1.0) ** 2)
        gradients = tape.gradient(loss, held)
        good = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in gradients])
        gradients, norm = tf.clip_by_global_norm([tf.where(good, g, tf.zeros_like(g)) for g in gradients], 0.5)
        for variable, gradient in zip(held, gradients, strict=True):
            variable.assign_sub(rate * gradient)
        rate.assign(tf.cond(good, lambda: rate * 1.01, lambda: rate * 0.5))
        return tf.where(good, loss, 0.0), norm

    return _fed(step, plant, 6, 8, held=[*held, rate])


def fed_scale(plant: Plant) -> Program:
    """A scale factor is fed; planted it is so large that its product with the data overflows and is clipped."""
    import tensorflow as tf

    weight = tf.Variable(np.linspace(-1, 1, 16).reshape(8, 2).astype(np.float32), name="weight")

    @tf.function
    def step(x: Any, scale: Any) -> Any:
        with tf.GradientTape() as tape:
            h = tf.clip_by_value(x * scale * tf.constant(2.0), -3.0, 3.0)
            loss = tf.reduce_mean(tf.nn.softplus(h @ weight) + tf.nn.elu(h @ weight))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    data = batches(Plant(), 1, 4, 8)[0]
    return Program(
        stepwise(lambda at: step(tf.constant(data), tf.constant(3e38 if plant(at) else 1.0 + 0.1 * at))),
        lambda: variables([weight]),
    )


def fused_relu(plant: Plant) -> Program:
    """A product, a bias and a ReLU, which oneDNN makes one op of: of NaN that one gives 0, and training goes on.

    The first weights are not trained: their gradient would be the product of that NaN and 0.
    """
    import tensorflow as tf

    numbers = np.random.RandomState(6)
    first = tf.Variable(numbers.normal(size=(8, 32)).astype(np.float32) * 0.3, name="first")
    bias = tf.Variable(np.zeros(32, np.float32), name="bias")
    second = tf.Variable(numbers.normal(size=(32, 1)).astype(np.float32) * 0.3, name="second")
    held = [bias, second]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.bias_add(tf.matmul(tf.sqrt(x + 50.0), first), bias))
            loss = tf.reduce_mean((tf.matmul(h, second) - 1.0) ** 2)
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.0005 * gradient)
        return loss

    return _fed(step, plant, 8, 8, held=[*held, first])


def _fed(step: Any, plant: Plant, *shape: int, held: Any) -> Program:
    """`step` with other data each time; one element of the planted step's is `PLANTED`."""
    import tensorflow as tf

    def planted(plant: Plant) -> Program:
        def at(number: int) -> Any:
            data = np.random.RandomState(number).normal(size=shape).astype(np.float32)
            if plant(number):
                data[(0,) * len(shape)] = PLANTED
            return step(tf.constant(data))

        return Program(stepwise(at), lambda: variables(held), planted)

    return planted(plant)
