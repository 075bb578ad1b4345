"""What all values of a function cost: a GPT training step as it is, and with every intermediate value kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bench.timing import interleave, print_ratios
from tfdbg_cli.capture.function_graph import function_graph
from tfdbg_cli.capture.instrumented import instrument

WIDTH, HEADS, LAYERS, BATCH, LENGTH, WORDS = 256, 4, 4, 8, 64, 512
KEPT = "all values in memory"
GOALS = {KEPT: 1.25}
PREPARATION_GOAL = 0.6


def build_step() -> tuple[Any, Any]:
    """A training step (Adam) of a decoder of 4 layers, and a batch of tokens."""
    import tensorflow as tf

    make = tf.random.Generator.from_seed(1)

    def weight(*shape: int) -> Any:
        return tf.Variable(make.normal(shape, stddev=0.05))

    embedding, places = weight(WORDS, WIDTH), weight(LENGTH, WIDTH)
    layers = [
        {
            "qkv": weight(WIDTH, 3 * WIDTH), "out": weight(WIDTH, WIDTH),
            "up": weight(WIDTH, 4 * WIDTH), "down": weight(4 * WIDTH, WIDTH),
            "bias": weight(4 * WIDTH), "scale1": tf.Variable(tf.ones(WIDTH)), "scale2": tf.Variable(tf.ones(WIDTH)),
        }
        for _ in range(LAYERS)
    ]  # fmt: skip
    variables = [embedding, places, *(value for layer in layers for value in layer.values())]
    moments = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in variables]

    def norm(x: Any, scale: Any) -> Any:
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale

    def attend(x: Any, layer: dict[str, Any]) -> Any:
        parts = tf.reshape(x @ layer["qkv"], [BATCH, LENGTH, 3, HEADS, WIDTH // HEADS])
        query, key, value = tf.unstack(tf.transpose(parts, [2, 0, 3, 1, 4]))
        scores = tf.matmul(query, key, transpose_b=True) * (WIDTH // HEADS) ** -0.5
        future = 1 - tf.linalg.band_part(tf.ones([LENGTH, LENGTH]), -1, 0)
        mixed = tf.nn.softmax(scores - 1e9 * future) @ value
        return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [BATCH, LENGTH, WIDTH]) @ layer["out"]

    def loss_of(tokens: Any) -> Any:
        x = tf.gather(embedding, tokens) + places
        for layer in layers:
            x += attend(norm(x, layer["scale1"]), layer)
            x += tf.nn.gelu(norm(x, layer["scale2"]) @ layer["up"] + layer["bias"]) @ layer["down"]
        logits = tf.einsum("btw,vw->btv", x, embedding)
        wrong = tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, 1:], logits[:, :-1])
        return tf.reduce_mean(wrong)

    @tf.function
    def step(tokens: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(tokens)
        for gradient, variable, (mean, square) in zip(
            tape.gradient(loss, variables), variables, moments, strict=True
        ):
            gradient = tf.convert_to_tensor(gradient)
            mean.assign(0.9 * mean + 0.1 * gradient)
            square.assign(0.99 * square + 0.01 * gradient**2)
            variable.assign_sub(1e-4 * mean / (tf.sqrt(square) + 1e-8))
        return loss

    return step, make.uniform([BATCH, LENGTH], maxval=WORDS, dtype=tf.int32)


def measure(rounds: int) -> None:
    """Measure and print."""
    step, tokens = build_step()
    concrete = step.get_concrete_function(tokens)
    ops = len(concrete.graph.get_operations())
    began = time.perf_counter()
    instrumented = instrument(concrete)
    took = time.perf_counter() - began
    print(f"\npreparing {ops} ops: {took:.3f} s (goal: ≤ {PREPARATION_GOAL} s)")
    inputs = [tokens, *concrete.captured_inputs]
    ways: dict[str, Callable[[], object]] = {
        "undebugged": lambda: concrete(tokens).numpy(),
        KEPT: lambda: instrumented.perform(inputs).outputs[0].numpy(),
    }
    captured = instrumented.perform(inputs).captured
    size = sum(captured[i].nbytes or 0 for i in range(len(captured)))
    began = time.perf_counter()
    function_graph(concrete)
    print(f"model of the graph: {time.perf_counter() - began:.3f} s; {len(captured)} tensors, {size / 1e6:.0f} MB")
    print_ratios(f"GPT training step as a function, {ops} ops", interleave(ways, rounds), "undebugged", GOALS)
