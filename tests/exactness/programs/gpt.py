"""A small GPT written with plain ops, and Adam by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactness.courses import Build, Plant, Program, stepwise, variables
from exactness.programs.planting import batches, hidden

WORDS = 64


def gpt(
    rate: float, layers: int = 4, width: int = 32, batch: int = 4, length: int = 16, *, sized: bool = False
) -> Build:
    """`layers` blocks of attention and GELU. Beside each token stands a number, with which a NaN can be planted.

    The function knows the size of its batch only if `sized`.
    """

    def build(plant: Plant) -> Program:
        import tensorflow as tf

        numbers = np.random.RandomState(1)
        held: list[Any] = []

        def weight(*shape: int) -> Any:
            held.append(tf.Variable(numbers.normal(scale=0.05, size=shape).astype(np.float32), name=f"w{len(held)}"))
            return held[-1]

        def ones(*shape: int) -> Any:
            held.append(tf.Variable(np.ones(shape, np.float32), name=f"scale{len(held)}"))
            return held[-1]

        tokens, places = weight(WORDS, width), weight(length, width)
        blocks = [
            (ones(width), weight(width, 3 * width), weight(width, width), ones(width), weight(width, 4 * width),
             weight(4 * width, width))
            for _ in range(layers)
        ]  # fmt: skip
        last = ones(width)
        count = tf.Variable(0, name="count")
        moments = [tuple(tf.Variable(tf.zeros_like(v), name=f"m{at}") for _ in range(2)) for at, v in enumerate(held)]

        def logits(x: Any, beside: Any) -> Any:
            h = tf.gather(tokens, x) + places + 0.01 * hidden(beside)[..., None]
            for scale_a, to_qkv, to_out, scale_b, up, down in blocks:
                h += _attention(_normalized(h, scale_a), to_qkv, to_out, length, width)
                h += tf.nn.gelu(_normalized(h, scale_b) @ up, approximate=True) @ down
            return tf.einsum("btd,vd->btv", _normalized(h, last), tokens)

        of_tokens, of_numbers = (
            tf.TensorSpec([batch if sized else None, length], of) for of in (tf.int64, tf.float32)
        )

        @tf.function(input_signature=[of_tokens, of_tokens, of_numbers])
        def step(x: Any, y: Any, beside: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits(x, beside))
                )
            gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, held), 1.0)
            time = tf.cast(count.assign_add(1), tf.float32)
            for variable, gradient, (first, second) in zip(held, gradients, moments, strict=True):
                gradient = tf.convert_to_tensor(gradient)
                first.assign(0.9 * first + 0.1 * gradient)
                second.assign(0.999 * second + 0.001 * tf.square(gradient))
                mean, square = first / (1.0 - 0.9**time), second / (1.0 - 0.999**time)
                variable.assign_sub(rate * mean / (tf.sqrt(square) + 1e-8))
            return loss, norm

        text = tf.constant(np.random.RandomState(0).randint(0, WORDS, (batch, length + 1)))

        def at(number: int) -> Any:
            beside = batches(Plant(0 if plant(number) else None), 1, batch, length, seed=number)[0]
            return step(text[:, :-1], text[:, 1:], tf.constant(beside))

        return Program(stepwise(at), lambda: variables(held, *moments, [count]))

    return build


def _normalized(x: Any, scale: Any) -> Any:
    import tensorflow as tf

    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale


def _attention(x: Any, to_qkv: Any, to_out: Any, length: int, width: int, heads: int = 4) -> Any:
    import tensorflow as tf

    def by_head(part: Any) -> Any:
        return tf.transpose(tf.reshape(part, [-1, length, heads, width // heads]), [0, 2, 1, 3])

    q, k, v = (by_head(part) for part in tf.split(x @ to_qkv, 3, axis=-1))
    scores = tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5
    mask = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
    mixed = tf.nn.softmax(scores - 1e9 * (1.0 - mask)) @ v
    return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, length, width]) @ to_out
