"""One training step of a small GPT as a tf.function: 4 layers, width 256, a batch of 8 times 64 tokens, Adam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

VOCABULARY = 1024


def build_step(width: int = 256, layers: int = 4, batch: int = 8, length: int = 64) -> Callable[[], Any]:
    """A call that makes one step, the tf.function as its attribute `function` and its arguments as `arguments`."""
    tf.random.set_seed(1)
    variables: list[tf.Variable] = []

    def weight(*shape: int) -> tf.Variable:
        variables.append(tf.Variable(tf.random.normal(shape, stddev=0.02)))
        return variables[-1]

    def ones(*shape: int) -> tf.Variable:
        variables.append(tf.Variable(tf.ones(shape)))
        return variables[-1]

    tokens, places = weight(VOCABULARY, width), weight(length, width)
    blocks = [
        (ones(width), weight(width, 3 * width), weight(width, width), ones(width), weight(width, 4 * width),
         weight(4 * width, width))
        for _ in range(layers)
    ]  # fmt: skip
    last = ones(width)
    moments = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in variables]

    def logits(x: Any) -> Any:
        h = tf.gather(tokens, x) + places
        for scale_a, to_qkv, to_out, scale_b, up, down in blocks:
            h += _attention(_normalized(h, scale_a), to_qkv, to_out, length, width)
            h += tf.nn.gelu(_normalized(h, scale_b) @ up) @ down
        return tf.einsum("btd,vd->btv", _normalized(h, last), tokens)

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits(x))
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, variables)
        for variable, gradient, (first, second) in zip(variables, gradients, moments, strict=True):
            _adam(variable, tf.convert_to_tensor(gradient), first, second)
        return loss

    text = np.random.RandomState(0).randint(0, VOCABULARY, (batch, length + 1))
    arguments = tf.constant(text[:, :-1]), tf.constant(text[:, 1:])

    def call() -> Any:
        return float(step(*arguments))

    call.function, call.arguments = step, arguments  # type: ignore[attr-defined]
    return call


def _normalized(x: Any, scale: Any) -> Any:
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale


def _attention(x: Any, to_qkv: Any, to_out: Any, length: int, width: int, heads: int = 8) -> Any:
    def by_head(part: Any) -> Any:
        return tf.transpose(tf.reshape(part, [-1, length, heads, width // heads]), [0, 2, 1, 3])

    q, k, v = (by_head(part) for part in tf.split(x @ to_qkv, 3, axis=-1))
    scores = tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5
    mask = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
    mixed = tf.nn.softmax(scores - 1e9 * (1.0 - mask)) @ v
    return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, length, width]) @ to_out


def _adam(variable: Any, gradient: Any, first: Any, second: Any, rate: float = 1e-4) -> None:
    first.assign(0.9 * first + 0.1 * gradient)
    second.assign(0.999 * second + 0.001 * tf.square(gradient))
    variable.assign_sub(rate * first / (tf.sqrt(second) + 1e-8))
