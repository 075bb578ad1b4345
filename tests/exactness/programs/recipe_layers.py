"""The layers of random programs: plain ops on `[batch, width]`, of kinds that TensorFlow's optimizer merges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


class Weights:
    """Makes variables of one dtype, and remembers them. `chance` draws their first values."""

    def __init__(self, chance: Any, dtype: Any, width: int) -> None:
        self.held: list[Any] = []
        self.width, self.dtype = width, dtype
        self._chance = chance

    def __call__(self, *shape: int, around: float = 0.0, scale: float = 0.4) -> Any:
        start = tf.cast(self._chance.normal(around, scale, shape), self.dtype)
        self.held.append(tf.Variable(start, name=f"w{len(self.held)}"))
        return self.held[-1]

    def square(self) -> Any:
        return self(self.width, self.width)

    def scale(self) -> Any:
        return self(self.width, around=1.0, scale=0.1)


Layer = Callable[[Any, Any], Any]  # of a batch, and a count of steps, which draws numbers
Make = Callable[[Weights], Layer]


def _dense(activation: Callable[[Any], Any]) -> Make:
    def make(weights: Weights) -> Layer:
        kernel, bias = weights.square(), weights.scale()
        return lambda x, _: activation(tf.nn.bias_add(tf.matmul(x, kernel), bias))

    return make


def _bias_apart(weights: Weights) -> Layer:
    kernel, bias = weights.square(), weights.scale()
    return lambda x, _: tf.nn.relu(tf.matmul(x, kernel) * 0.5 + bias - 0.25)


def _gated(weights: Weights) -> Layer:
    one, two, three = weights.square(), weights.square(), weights.square()
    return lambda x, _: (tf.nn.silu(x @ one) * (x @ two)) @ three


def _layer_norm(weights: Weights) -> Layer:
    scale, shift = weights.scale(), weights.scale()

    def layer(x: Any, _: Any) -> Any:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-3) * scale + shift

    return layer


def _rms_norm(weights: Weights) -> Layer:
    scale = weights.scale()
    return lambda x, _: x / tf.sqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-3) * scale


def _batch_norm(weights: Weights) -> Layer:
    scale, shift = weights.scale(), weights.scale()

    def layer(x: Any, _: Any) -> Any:
        mean, variance = tf.nn.moments(x, [0])
        return tf.nn.relu(tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-2))

    return layer


def _attention(weights: Weights) -> Layer:
    q, k, v = (weights.square() for _ in range(3))

    def layer(x: Any, _: Any) -> Any:
        scores = tf.matmul(x @ q, x @ k, transpose_b=True) / weights.width**0.5
        return x + tf.nn.softmax(scores * 2.0 - 1.0) @ (x @ v)

    return layer


def _residual(weights: Weights) -> Layer:
    one, two = weights.square(), weights.square()
    return lambda x, _: x + tf.tanh(x @ one) + 0.5 * tf.sigmoid(x @ two) + x * 0.1


def _product_of_scalars(weights: Weights) -> Layer:
    a, b = weights(around=1.0, scale=0.1), weights(around=1.0, scale=0.1)
    return lambda x, _: x * a * 0.7 * b * 1.3 + (a * b * 0.5) * x


def _product_of_tensors(weights: Weights) -> Layer:
    a, b, c = weights.scale(), weights.scale(), weights.scale()
    return lambda x, _: x * a * b * c * tf.tanh(x) / (1.0 + tf.square(b * c))


def _sum_of_terms(weights: Weights) -> Layer:
    a, b = weights.square(), weights.scale()
    return lambda x, _: (x @ a) + tf.sin(x) + x * b + tf.cos(x) + tf.tanh(x) + tf.square(x) * 0.1


def _common(weights: Weights) -> Layer:
    kernel, scale = weights.square(), weights.scale()

    def layer(x: Any, _: Any) -> Any:
        one = tf.tanh(x @ kernel * scale)
        return one * tf.exp(-tf.square(tf.tanh(x @ kernel * scale))) + tf.tanh(x @ kernel * scale) - one * one

    return layer


def _image(x: Any, width: int) -> Any:
    return tf.reshape(x, [-1, 2, width // 2, 1])


def _convolution(weights: Weights) -> Layer:
    kernel, bias = weights(2, 2, 1, 2), weights(2)
    back = weights(2 * weights.width, weights.width)

    def layer(x: Any, _: Any) -> Any:
        of_image = tf.nn.conv2d(_image(x, weights.width), kernel, 1, "SAME")
        return tf.reshape(tf.nn.relu(tf.nn.bias_add(of_image, bias)), [-1, 2 * weights.width]) @ back

    return layer


def _depthwise(weights: Weights) -> Layer:
    kernel = weights(2, 2, 1, 1)

    def layer(x: Any, _: Any) -> Any:
        of_image = tf.nn.depthwise_conv2d(_image(x, weights.width), kernel, [1, 1, 1, 1], "SAME")
        return tf.nn.relu6(tf.reshape(of_image, [-1, weights.width]) + x)

    return layer


def _pooled(weights: Weights) -> Layer:
    def layer(x: Any, _: Any) -> Any:
        pooled = tf.nn.max_pool2d(_image(x, weights.width), 2, 1, "SAME")
        mean = tf.nn.avg_pool2d(_image(x, weights.width), 2, 1, "SAME")
        return tf.reshape(pooled + mean, [-1, weights.width])

    return layer


def _gathered(weights: Weights) -> Layer:
    table = weights(5, weights.width)

    def layer(x: Any, _: Any) -> Any:
        at = tf.math.floormod(tf.cast(tf.math.floor(x[:, 0]), tf.int32), 5)
        return x * 0.5 + tf.gather(table, at) + tf.gather(table, 4 - at) * 0.1

    return layer


def _branch(weights: Weights) -> Layer:
    one, two = weights.square(), weights.square()

    def layer(x: Any, _: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x @ one) * 1.5, lambda: tf.tanh(x @ two) + x)

    return layer


def _while(weights: Weights) -> Layer:
    kernel, scale = weights.square(), weights.scale()

    def layer(x: Any, count: Any) -> Any:
        def body(at: Any, h: Any) -> Any:
            return at + 1, tf.ensure_shape(tf.tanh(h @ kernel * scale + x), x.shape)

        return tf.while_loop(lambda at, _: at < 2 + count % 2, body, (0, x), maximum_iterations=4)[1]

    return layer


def _for(weights: Weights) -> Layer:
    kernels = [weights.square() for _ in range(3)]

    def layer(x: Any, _: Any) -> Any:
        for kernel in kernels:
            x = 0.5 * x + tf.nn.relu(x @ kernel) * 0.25
        return x

    return layer


def _scan(weights: Weights) -> Layer:
    kernel = weights.square()

    def layer(x: Any, _: Any) -> Any:
        return tf.scan(lambda before, row: tf.tanh(tf.linalg.matvec(kernel, before, transpose_a=True) + row), x)

    return layer


def _called(weights: Weights) -> Layer:
    kernel, bias = weights.square(), weights.scale()
    inner = tf.function(lambda x: tf.nn.relu(tf.nn.bias_add(x @ kernel, bias)) * 0.9, autograph=False)
    return lambda x, _: inner(inner(x)) + x


def _dropout(weights: Weights) -> Layer:
    kernel = weights.square()

    def layer(x: Any, count: Any) -> Any:
        kept = tf.random.stateless_uniform(tf.shape(x), tf.stack([count, 3])) > 0.3
        return tf.nn.relu(x @ kernel) * tf.cast(kept, x.dtype) / 0.7

    return layer


def _einsum(weights: Weights) -> Layer:
    kernel, other = weights.square(), weights.square()
    return lambda x, _: tf.einsum("bi,ij,kj->bk", x, kernel, other) * weights.width**-0.5


def _rotated(weights: Weights) -> Layer:
    angle = weights(weights.width // 2)

    def layer(x: Any, _: Any) -> Any:
        one, two = tf.split(x, 2, axis=-1)
        cos, sin = tf.cos(angle), tf.sin(angle)
        return tf.concat([one * cos - two * sin, one * sin + two * cos], -1)

    return layer


def _mixture(weights: Weights) -> Layer:
    kernels, gate = [weights.square() for _ in range(3)], weights(weights.width, 3)

    def layer(x: Any, _: Any) -> Any:
        share = tf.nn.softmax(x @ gate)
        return tf.add_n([share[:, at : at + 1] * tf.nn.gelu(x @ kernel) for at, kernel in enumerate(kernels)])

    return layer


def _segments(weights: Weights) -> Layer:
    def layer(x: Any, _: Any) -> Any:
        at = tf.range(tf.shape(x)[0]) % 2
        return x + tf.gather(tf.math.unsorted_segment_sum(x, at, 2), at) * 0.2

    return layer


def _simple(function: Callable[[Any], Any]) -> Make:
    return lambda _: lambda x, __: function(x)


MAKES: dict[str, Make] = {
    "dense relu": _dense(tf.nn.relu),
    "dense tanh": _dense(tf.tanh),
    "dense gelu": _dense(tf.nn.gelu),
    "dense approximate gelu": _dense(lambda x: tf.nn.gelu(x, approximate=True)),
    "dense swish": _dense(tf.nn.silu),
    "dense softplus": _dense(tf.nn.softplus),
    "dense elu": _dense(tf.nn.elu),
    "dense selu": _dense(tf.nn.selu),
    "dense relu6": _dense(tf.nn.relu6),
    "dense leaky relu": _dense(lambda x: tf.nn.leaky_relu(x, 0.1)),
    "bias apart": _bias_apart,
    "gated": _gated,
    "layer norm": _layer_norm,
    "rms norm": _rms_norm,
    "batch norm": _batch_norm,
    "softmax": _simple(lambda x: tf.nn.softmax(x) * 3.0 - x * 0.1),
    "log softmax": _simple(lambda x: tf.math.log(tf.nn.softmax(x)) * 0.2 + x),
    "attention": _attention,
    "residual": _residual,
    "product of scalars": _product_of_scalars,
    "product of tensors": _product_of_tensors,
    "sum of terms": _sum_of_terms,
    "differences": _simple(
        lambda x: x - 0.1 * tf.sin(x) - tf.reduce_mean(x) - 0.2 - tf.reduce_max(x, -1, keepdims=True)
    ),
    "divided by root": _simple(lambda x: x / tf.sqrt(tf.reduce_sum(tf.square(x)) + 1.0) * 3.0),
    "divided twice": _simple(lambda x: x / 1.7 / (1.0 + tf.abs(x)) / 0.3),
    "powers": _simple(lambda x: tf.pow(tf.abs(x) + 0.1, 1.5) * 0.3 + x**3 * 0.01 + x**2 * 0.1),
    "common subexpression": _common,
    "convolution relu": _convolution,
    "depthwise": _depthwise,
    "pooled": _pooled,
    "concatenated": _simple(lambda x: tf.concat([x[:, 1:] * 2.0 + 1.0, x[:, :1] / 3.0], 1)),
    "gathered": _gathered,
    "branch": _branch,
    "while loop": _while,
    "for loop": _for,
    "scan": _scan,
    "called": _called,
    "dropout": _dropout,
    "cumulative sum": _simple(lambda x: tf.cumsum(x, 1) * 0.3),
    "einsum": _einsum,
    "mean taken off": _simple(lambda x: x - tf.reduce_mean(x, 0) - tf.reduce_mean(x, 1, keepdims=True)),
    "rotated": _rotated,
    "mixture": _mixture,
    "top": _simple(lambda x: x + tf.math.top_k(x, 2).values[:, :1] * 0.1),
    "segment sum": _segments,
    "negated": _simple(lambda x: -(-x * 0.5 - (-x) * tf.sigmoid(-x))),
    "cast there and back": _simple(lambda x: tf.cast(tf.tanh(tf.cast(x, tf.float32) * 1.1), x.dtype) + x),
}
