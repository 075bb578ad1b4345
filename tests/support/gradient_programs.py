"""Functions whose gradient a tape outside of them asks for, each with one op whose gradient is infinite at 0.

The line of that op says BUG. `v` is a variable that holds a 0, `x` two ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf


@tf.function
def plain(v: Any, x: Any) -> Any:
    return tf.reduce_sum(tf.sqrt(v) * x)  # BUG


@tf.function
def root(v: Any) -> Any:
    doubled = v * 2.0
    return tf.sqrt(doubled) + 1.0  # BUG


@tf.function
def nested(v: Any, x: Any) -> Any:
    doubled = x * 2.0 + root(v + 1.0)
    return tf.reduce_sum(root(v) * doubled)


@tf.function
def two_outputs(v: Any, x: Any) -> Any:
    roots = tf.sqrt(v)  # BUG
    largest, places = tf.math.top_k(roots * x, 2)
    return tf.reduce_sum(largest), places


@tf.function
def loop(v: Any, x: Any) -> Any:
    y = x
    for _ in tf.range(2):
        y = y * 1.5 + tf.sqrt(v)  # BUG
    return tf.reduce_sum(y * x), y


@tf.function
def branch(v: Any, x: Any) -> Any:
    y = tf.exp(x)
    if tf.reduce_sum(x) > 100.0:  # noqa: SIM108
        z = tf.math.log(v + 1.0)
    else:
        z = tf.sqrt(v)  # BUG
    return tf.reduce_sum(z * y), y


@tf.function
def gradients(v: Any, x: Any) -> Any:
    """Called as TensorFlow calls the scopes of gradients."""
    return tf.reduce_sum(tf.sqrt(v) * x)  # BUG


_KEPT: list[tf.Variable] = []  # a function that was traced with a variable wants it to live
PROGRAMS = {
    "plain": plain,
    "nested": nested,
    "two_outputs": two_outputs,
    "loop": loop,
    "branch": branch,
    "gradients": gradients,
}


def bug_line(function: Any) -> tuple[int, str]:
    """The number of the line with the op that goes wrong, and the line, of a function of this file."""
    with open(__file__) as file:
        lines = file.read().splitlines()
    start = (root if function is nested else function).python_function.__code__.co_firstlineno
    return next((at, text) for at, text in enumerate(lines[start - 1 :], start) if "# BUG" in text)


def asked(function: Callable[..., Any], *, persistent: bool = False, v: Any = None) -> Any:
    """The gradient of what `function` gives, by its variable, as a tape around the call has it."""
    variable = tf.Variable([0.0, 4.0]) if v is None else v
    _KEPT.append(variable)
    with tf.GradientTape(persistent=persistent) as tape:
        loss = function(variable, tf.ones([2]))
    return tape.gradient(loss[0] if isinstance(loss, tuple | list) else loss, variable)


@contextlib.contextmanager
def gradient_functions() -> Iterator[list[Any]]:
    """A context; the graph functions (AtomicFunction) that compute gradients and are called in it."""
    from tfdbg_cli.capture.tf import compat

    kind, found = compat.atomic_class(), []
    original = kind.call_flat

    def call_flat(atomic: Any, *inputs: Any) -> Any:
        if tf.executing_eagerly() and b"__backward_" in atomic.name:
            found.append(atomic)
        return original(atomic, *inputs)

    kind.call_flat = call_flat
    try:
        yield found
    finally:
        kind.call_flat = original
