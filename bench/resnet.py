"""One training step of a small ResNet in a TF1 session: 32x32 images, batch 16, momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


def build_step(blocks: tuple[int, ...] = (2, 2, 2, 2), width: int = 16) -> tuple[tf.Graph, Any, dict[Any, Any]]:
    """The graph, the fetches of one step, and a batch to feed it."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        images = tf.placeholder(tf.float32, [16, 32, 32, 3], name="images")
        labels = tf.placeholder(tf.int32, [16], name="labels")
        x = _conv("stem", images, width)
        for stage, count in enumerate(blocks):
            for block in range(count):
                stride = 2 if stage and not block else 1
                x = _block(f"stage{stage}_{block}", x, width << stage, stride)
        logits = _dense("head", tf.reduce_mean(x, [1, 2]), 10)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
        init = tf.global_variables_initializer()
    rng = np.random.RandomState(0)
    feed = {images: rng.randn(16, 32, 32, 3).astype(np.float32), labels: rng.randint(0, 10, 16)}
    return graph, (init, [loss, train]), feed


def session_step(graph: Any, fetches: Any, feed: dict[Any, Any], wrap: Callable[[Any], Any]) -> Callable[[], object]:
    """A call that runs one step in a session of its own, wrapped by `wrap` after the variables are initialized."""
    init, step = fetches
    raw = tf.Session(graph=graph)
    raw.run(init)
    session = wrap(raw)
    return lambda: session.run(step, feed)


def _conv(name: str, x: Any, filters: int, stride: int = 1, size: int = 3) -> Any:
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", [size, size, int(x.shape[-1]), filters])
        x = tf.nn.conv2d(x, kernel, strides=[1, stride, stride, 1], padding="SAME")
        scale = tf.get_variable("scale", [filters], initializer=tf.ones_initializer())
        offset = tf.get_variable("offset", [filters], initializer=tf.zeros_initializer())
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)


def _block(name: str, x: Any, filters: int, stride: int) -> Any:
    with tf.variable_scope(name):
        y = tf.nn.relu(_conv("a", x, filters, stride))
        y = _conv("b", y, filters)
        if stride != 1 or int(x.shape[-1]) != filters:
            x = _conv("shortcut", x, filters, stride, 1)
        return tf.nn.relu(x + y)


def _dense(name: str, x: Any, units: int) -> Any:
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", [int(x.shape[-1]), units])
        return tf.matmul(x, kernel) + tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
