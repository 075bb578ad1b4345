"""Session graphs of a given number of ops, of the kinds that programs have: what preparing a watch of them takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


@dataclass(frozen=True)
class Step:
    """A run of a graph: what it fetches and is fed, and the op that initializes its variables."""

    graph: Any
    fetches: Any
    feed: Mapping[Any, Any]
    init: Any


def chain(ops: int) -> Step:
    """Elementwise ops one behind the other, most of which need a check of their own."""
    with tf.Graph().as_default() as graph:
        x = y = tf.placeholder(tf.float32, [8, 8], name="x")
        kinds = (tf.tanh, tf.sigmoid, tf.nn.relu, tf.abs)
        for at in range(ops):
            y = kinds[at % len(kinds)](y)
        return Step(graph, tf.reduce_sum(y), {x: np.ones((8, 8))}, tf.global_variables_initializer())


def resnet(ops: int) -> Step:
    """Blocks of a convolution, a normalization and six branches that are summed up."""
    with tf.Graph().as_default() as graph:
        x = h = tf.placeholder(tf.float32, [2, 8, 8, 4], name="x")
        while _size(graph) < ops:
            kernel = tf.get_variable(f"w{_size(graph)}", [1, 1, 4, 4])
            a = tf.nn.conv2d(h, kernel, 1, "SAME")
            mean, variance = tf.nn.moments(a, [0, 1, 2])
            a = (a - mean) * tf.math.rsqrt(variance + 1e-3)
            h = h + 0.01 * tf.add_n([tf.nn.relu(a * float(branch)) for branch in range(6)])
        return Step(graph, tf.reduce_mean(h), {x: np.ones((2, 8, 8, 4))}, tf.global_variables_initializer())


def recurrent(ops: int) -> Step:
    """The turns of an LSTM, one behind the other."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 8], name="x")
        kernel, bias = tf.get_variable("kernel", [16, 32]), tf.get_variable("bias", [32])
        h = c = tf.zeros([4, 8])
        while _size(graph) < ops:
            i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), kernel) + bias, 4, 1)
            c = c * tf.sigmoid(f) + tf.sigmoid(i) * tf.tanh(j)
            h = tf.tanh(c) * tf.sigmoid(o)
        return Step(graph, tf.reduce_mean(h), {x: np.ones((4, 8))}, tf.global_variables_initializer())


def training(ops: int) -> Step:
    """Dense layers with gradients and momentum; up to 300 variables."""
    layers = min(300, max(10, ops // 60))
    more = max(0, ops // layers - 35) // 14
    with tf.Graph().as_default() as graph:
        x = h = tf.placeholder(tf.float32, [4, 8], name="x")
        for at in range(layers):
            h = tf.tanh(tf.matmul(h, tf.get_variable(f"w{at}", [8, 8])))
            for _ in range(more):
                h = h + tf.tanh(h) * 0.01
        loss = tf.reduce_mean(tf.square(h))
        train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
        return Step(graph, [loss, train], {x: np.ones((4, 8))}, tf.global_variables_initializer())


def _size(graph: Any) -> int:
    return len(graph.get_operations())


KINDS: Mapping[str, Callable[[int], Step]] = {
    "a chain of elementwise ops": chain,
    "a wide residual network": resnet,
    "an LSTM, unrolled": recurrent,
    "training with momentum": training,
}
