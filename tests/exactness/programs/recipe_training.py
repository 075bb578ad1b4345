"""Random programs made from their recipes: the step of training around the layers, with an optimizer of plain ops."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from exactness.courses import Build, Plant, Program, variables
from exactness.programs.planting import PLANTED, hidden
from exactness.programs.recipe import Recipe
from exactness.programs.recipe_layers import MAKES, Weights

_CLASSES = 3


def program_of(recipe: Recipe) -> Build:
    """The program of `recipe`. Its whole state is in its variables."""
    return partial(_build, recipe)


def _build(recipe: Recipe, plant: Plant) -> Program:
    training = _Training(recipe)
    signature = [
        tf.TensorSpec([recipe.batch, recipe.width], training.dtype),
        tf.TensorSpec([recipe.batch, _CLASSES], training.dtype),
    ]
    options = {"autograph": False, "jit_compile": recipe.compiled or None}
    step = tf.function(training.step, signature, **options)

    @tf.function(**options)  # type: ignore[untyped-decorator]
    def drawing(iterator: Any) -> Any:
        x, y = next(iterator)
        return training.step(tf.ensure_shape(x, signature[0].shape), tf.ensure_shape(y, signature[1].shape))

    def batch(number: int) -> tuple[Any, Any]:
        chance = np.random.RandomState(1000 * recipe.seed % 2**31 + number)
        size = recipe.batch or 4 + number % 3
        x, y = chance.normal(size=(size, recipe.width)), np.eye(_CLASSES)[chance.randint(0, _CLASSES, size)]
        if plant(number):
            x[0, 0] = PLANTED
        return tf.cast(x, training.dtype), tf.cast(y, training.dtype)

    def results(steps: int) -> Iterator[Any]:
        given = map(batch, range(steps))
        if not recipe.drawn:
            return itertools.starmap(step, given)
        data = functools.reduce(tf.data.Dataset.concatenate, map(tf.data.Dataset.from_tensors, given))
        return map(drawing, itertools.repeat(iter(data), steps))

    return Program(results, lambda: variables(training.state))


class _Training:
    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.dtype = tf.as_dtype(recipe.dtype)
        weights = Weights(np.random.RandomState(recipe.seed % 2**31), self.dtype, recipe.width)
        self._layers = [MAKES[name](weights) for name in recipe.layers]
        self._head = weights(recipe.width, _CLASSES)
        self._weights = weights.held
        self._count = tf.Variable(0, name="count")
        self._rate = tf.Variable(tf.cast(0.02, self.dtype), name="rate")
        self._beside = [[self._like(v, f"{kind}{at}") for at, v in enumerate(self._weights)] for kind in "mvas"]

    @property
    def state(self) -> Sequence[Any]:
        return [*self._weights, self._count, self._rate, *(v for beside in self._beside for v in beside)]

    def step(self, x: Any, y: Any) -> Any:
        around, held = self.recipe.around, self._weights
        count = self._count.assign_add(1)
        with tf.GradientTape() as tape:
            given = hidden(x)
            for at, layer in enumerate(self._layers):
                given = layer(given, count)
                if self.recipe.raw and not at:
                    given += x
            given = given @ self._head
            loss = _LOSSES[self.recipe.loss](given, y)
            if "penalty" in around:
                loss += tf.add_n([tf.nn.l2_loss(v) for v in held]) * 0.01
            to_derive = loss * 64.0 if "loss scaled" in around else loss
        gradients = [tf.convert_to_tensor(g) if g is not None else tf.zeros_like(v)
                     for g, v in zip(tape.gradient(to_derive, held), held, strict=True)]  # fmt: skip
        if "loss scaled" in around:
            gradients = [g / 64.0 for g in gradients]
        if "gradient noise" in around:
            seeds = [tf.stack([count, at]) for at in range(len(held))]
            gradients = [g + 0.01 * tf.random.stateless_normal(g.shape, seed, dtype=self.dtype)
                         for g, seed in zip(gradients, seeds, strict=True)]  # fmt: skip
        norms = [tf.norm(g) for g in gradients]
        self._update(_clipped(self.recipe.clip, gradients), count)
        results = {"loss": loss, "gradients": gradients, "norms": norms, "predictions": given,
                   "loss in a dict": {"a": loss, "b": loss * 2.0}}  # fmt: skip
        return [results[name] for name in self.recipe.returned]

    def _update(self, gradients: Sequence[Any], count: Any) -> None:
        around = self.recipe.around
        rate = self._rate_at(count)
        if "skipped if not finite" in around:
            good = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in gradients])
            gradients = [tf.where(good, g, tf.zeros_like(g)) for g in gradients]
        if "accumulated" in around:
            sums = self._beside[2]
            for total, gradient in zip(sums, gradients, strict=True):
                total.assign_add(gradient)

            def apply() -> Any:
                self._apply([total / 2.0 for total in sums], rate, count)
                for total in sums:
                    total.assign(tf.zeros_like(total))
                return 1

            tf.cond(count % 2 == 0, apply, lambda: 0)
        else:
            self._apply(gradients, rate, count)
        if "moving average" in around:
            for variable, mean in zip(self._weights, self._beside[3], strict=True):
                mean.assign(mean * 0.9 + variable * 0.1)

    def _apply(self, gradients: Sequence[Any], rate: Any, count: Any) -> None:
        time = tf.cast(count, self.dtype)
        for variable, gradient, first, second in zip(self._weights, gradients, *self._beside[:2], strict=True):
            if "weight decay" in self.recipe.around:
                variable.assign_sub(variable * 0.01 * rate)
            _OPTIMIZERS[self.recipe.optimizer](variable, gradient, first, second, rate, time)

    def _rate_at(self, count: Any) -> Any:
        rate, time = self._rate, tf.cast(count, self.dtype)
        match self.recipe.rate:
            case "decayed":
                return rate * tf.pow(tf.cast(0.9, self.dtype), time / 3.0)
            case "cosine":
                return 0.5 * rate * (1.0 + tf.cos(time / 10.0))
            case "warmed up":
                return rate * tf.minimum(time / 4.0, 1.0)
            case "variable":
                rate.assign(rate * 0.97)
                return rate.read_value()
        return rate.read_value()

    def _like(self, variable: Any, name: str) -> Any:
        return tf.Variable(tf.zeros_like(variable), name=name)


def _clipped(way: str, gradients: Sequence[Any]) -> Sequence[Any]:
    match way:
        case "norm":
            return [tf.clip_by_norm(g, 0.5) for g in gradients]
        case "global norm":
            return tf.clip_by_global_norm(gradients, 0.5)[0]
        case "value":
            return [tf.clip_by_value(g, -0.05, 0.05) for g in gradients]
        case "by mean":
            return [g / (tf.reduce_mean(tf.abs(g)) + 1e-3) * 0.1 for g in gradients]
        case "scaled":
            return [g * 0.5 * 0.3 for g in gradients]
    return gradients


def _momentum(variable: Any, gradient: Any, first: Any, _: Any, rate: Any, __: Any) -> None:
    first.assign(first * 0.9 - gradient * rate)
    variable.assign_add(first)


def _nesterov(variable: Any, gradient: Any, first: Any, _: Any, rate: Any, __: Any) -> None:
    first.assign(first * 0.9 - gradient * rate)
    variable.assign(variable + first * 0.9 - gradient * rate)


def _adam(variable: Any, gradient: Any, first: Any, second: Any, rate: Any, time: Any) -> None:
    first.assign(0.9 * first + 0.1 * gradient)
    second.assign(0.99 * second + 0.01 * tf.square(gradient))
    mean, square = first / (1.0 - 0.9**time), second / (1.0 - 0.99**time)
    variable.assign_sub(rate * mean / (tf.sqrt(square) + 1e-3))


def _adam_folded(variable: Any, gradient: Any, first: Any, second: Any, rate: Any, time: Any) -> None:
    alpha = rate * tf.sqrt(1.0 - 0.99**time) / (1.0 - 0.9**time)
    first.assign_add((gradient - first) * (1.0 - 0.9))
    second.assign_add((tf.square(gradient) - second) * (1.0 - 0.99))
    variable.assign_sub(first * alpha / (tf.sqrt(second) + 1e-3))


def _rmsprop(variable: Any, gradient: Any, _: Any, second: Any, rate: Any, __: Any) -> None:
    second.assign(0.9 * second + 0.1 * gradient * gradient)
    variable.assign_sub(rate * gradient * tf.math.rsqrt(second + 1e-3))


def _centered(variable: Any, gradient: Any, first: Any, second: Any, rate: Any, _: Any) -> None:
    first.assign(0.9 * first + 0.1 * gradient)
    second.assign(0.9 * second + 0.1 * gradient * gradient)
    variable.assign_sub(rate * gradient / tf.sqrt(second - tf.square(first) + 1e-2))


def _adagrad(variable: Any, gradient: Any, _: Any, second: Any, rate: Any, __: Any) -> None:
    second.assign_add(tf.square(gradient))
    variable.assign_sub(rate * gradient / tf.sqrt(second + 1e-3))


def _adadelta(variable: Any, gradient: Any, first: Any, second: Any, rate: Any, _: Any) -> None:
    second.assign(0.9 * second + 0.1 * tf.square(gradient))
    change = tf.sqrt(first + 1e-3) / tf.sqrt(second + 1e-3) * gradient
    first.assign(0.9 * first + 0.1 * tf.square(change))
    variable.assign_sub(rate * change)


def _lion(variable: Any, gradient: Any, first: Any, _: Any, rate: Any, __: Any) -> None:
    variable.assign_sub(rate * 0.1 * tf.sign(0.9 * first + 0.1 * gradient))
    first.assign(first * 0.99 + gradient * 0.01)


_OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "sgd": lambda variable, gradient, _, __, rate, ___: variable.assign_sub(rate * gradient),
    "momentum": _momentum,
    "nesterov": _nesterov,
    "adam": _adam,
    "adam folded": _adam_folded,
    "rmsprop": _rmsprop,
    "centered": _centered,
    "adagrad": _adagrad,
    "adadelta": _adadelta,
    "lion": _lion,
}


def _huber(given: Any, y: Any) -> Any:
    error = tf.abs(given - y)
    return tf.reduce_mean(tf.where(error < 0.5, 0.5 * error * error, 0.5 * error - 0.125))


def _sum_of_five(given: Any, y: Any) -> Any:
    error = given - y
    return (
        tf.reduce_mean(tf.square(error)) + 0.1 * tf.reduce_mean(tf.abs(error)) + tf.reduce_sum(tf.sin(given)) * 0.01
        + tf.reduce_mean(tf.nn.softplus(given)) + tf.reduce_logsumexp(given) * 0.1
    )  # fmt: skip


def _cosine(given: Any, y: Any) -> Any:
    return 1.0 - tf.reduce_mean(tf.reduce_sum(tf.nn.l2_normalize(given, -1) * tf.nn.l2_normalize(y, -1), -1))


_LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "mean square": lambda given, y: tf.reduce_mean(tf.math.squared_difference(given, y)),
    "huber": _huber,
    "cross entropy": lambda given, y: tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, given)),
    "log sum exp": lambda given, y: tf.reduce_mean(tf.reduce_logsumexp(given, -1) - tf.reduce_sum(given * y, -1)),
    "sum of five": _sum_of_five,
    "cosine": _cosine,
    "hinge": lambda given, y: tf.reduce_mean(tf.nn.relu(1.0 - given * (2.0 * y - 1.0))),
    "log likelihood": lambda given, y: -tf.reduce_sum(y * tf.math.log(tf.nn.softmax(given) + 1e-3)) / 4.0,
}
