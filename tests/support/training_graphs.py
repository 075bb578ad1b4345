"""Steps of training to watch: small random networks with calls, branches and loops, their gradients and updates."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

UNITS = 4


class RandomTraining:
    """A concrete step of training, of a batch and a learning rate, and the variables that it updates."""

    def __init__(self, seed: int, dtype: str = "float32", *, compiled: bool = False) -> None:
        self.chance = chance = random.Random(seed)
        self._compiled = compiled
        self.kind = tf.dtypes.as_dtype(dtype)
        numbers = np.random.RandomState(seed)
        self._start = [numbers.normal(size=(UNITS, UNITS)) for _ in range(3)] + [np.ones([UNITS])]
        self.variables = [tf.Variable(self._of(start), name=f"w{at}") for at, start in enumerate(self._start)]
        self.counter = tf.Variable(0, dtype=tf.int64, name="counter")
        self._layers = [chance.choice(self._kinds()) for _ in range(3)]
        self._updates = [chance.choice(self._ways()) for _ in self.variables]
        self._counts = chance.random() < 0.5
        spec = tf.TensorSpec([None if chance.random() < 0.5 and not compiled else 5, UNITS], self.kind)
        rate = tf.TensorSpec([], self.kind)
        self.concrete = tf.function(self._step, autograph=False, jit_compile=compiled or None).get_concrete_function(
            spec, rate
        )

    def restore(self) -> None:
        """Give the variables the values that they began with."""
        self.counter.assign(0)
        for variable, start in zip(self.variables, self._start, strict=True):
            variable.assign(self._of(start))

    def inputs(self) -> Iterator[tuple[Any, Any]]:
        """Batches and learning rates: usual ones, and those with which something is wrong.

        Finite ones for XLA: its gradient of a ReLU at NaN is another, and with all values a function that has loops
        or branches runs without XLA.
        """
        numbers = np.random.RandomState(1)
        usual, rate = numbers.normal(size=(5, UNITS)), 0.01
        yield self._of(usual), self._of(rate)
        yield self._of(usual), self._of(0.0)
        for scale in (0.0, 1e-6, 30.0, 1e4):
            yield self._of(usual * scale), self._of(rate)
        yield self._of(-np.abs(usual)), self._of(rate)
        if self._compiled:
            return
        for scale in (np.nan, np.inf):
            yield self._of(usual * scale), self._of(rate)
        spoiled = usual.copy()
        spoiled[2, 1] = np.inf
        yield self._of(spoiled), self._of(-rate)

    def _of(self, values: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return tf.cast(tf.constant(np.asarray(values, np.float64)), self.kind)

    def _kinds(self) -> list[Callable[[Any, Any], Any]]:
        relu = tf.nn.relu if not self.kind.is_complex else tf.identity
        inner = tf.function(lambda x, w: relu(tf.matmul(x, w)), autograph=False)
        zero = tf.zeros([], self.kind.real_dtype)

        def branched(x: Any, w: Any) -> Any:
            positive = tf.math.real(tf.reduce_sum(x)) > zero
            return tf.cond(positive, lambda: relu(tf.matmul(x, w)), lambda: tf.matmul(x, w))

        def looped(x: Any, w: Any) -> Any:
            def body(i: Any, a: Any) -> Any:
                return i + 1, tf.ensure_shape(relu(tf.matmul(a, w)), [None, UNITS])

            shapes = (tf.TensorShape([]), tf.TensorShape([None, UNITS]))
            return tf.while_loop(
                lambda i, a: i < 2, body, (tf.constant(0), x), shape_invariants=shapes, maximum_iterations=3
            )[1]

        plain = [lambda x, w: relu(tf.matmul(x, w)), lambda x, w: relu(tf.matmul(x, w) + w[0]) * w[1]]
        return [*plain, inner, branched, looped]

    def _ways(self) -> list[Callable[[Any, Any, Any], None]]:
        def subtract(variable: Any, gradient: Any, rate: Any) -> None:
            variable.assign_sub(rate * gradient)

        def assign(variable: Any, gradient: Any, rate: Any) -> None:
            variable.assign(variable - rate * gradient)

        called = tf.function(subtract, autograph=False)

        def branched(variable: Any, gradient: Any, rate: Any) -> None:
            zero = tf.zeros([], self.kind.real_dtype)
            tf.cond(
                tf.math.real(rate) > zero,
                lambda: (variable.assign_sub(rate * gradient), 0)[1],
                lambda: (variable.assign(variable * 1), 1)[1],
            )

        def twice(variable: Any, gradient: Any, rate: Any) -> None:
            def body(i: Any) -> Any:
                variable.assign_sub(rate * gradient)
                return i + 1

            tf.while_loop(lambda i: i < 2, body, [tf.constant(0)])

        def back(variable: Any, gradient: Any, rate: Any) -> None:
            variable.assign_add(rate * gradient)
            variable.assign(variable.read_value() * 1)

        return [subtract, assign, called, branched, twice, back]

    def _step(self, x: Any, rate: Any) -> Any:
        with tf.GradientTape() as tape:
            value = x
            for layer, weight in zip(self._layers, self.variables, strict=False):
                value = layer(value, weight)
            loss = tf.reduce_sum(value * value * self.variables[-1])
        for variable, gradient, update in zip(
            self.variables, tape.gradient(loss, self.variables), self._updates, strict=True
        ):
            update(variable, tf.zeros_like(variable) if gradient is None else gradient, rate)
        if self._counts:
            self.counter.assign_add(1)
        return loss
