"""The public classes of TensorFlow that are told apart, and whose methods are replaced while runs are intercepted."""

from __future__ import annotations

from functools import cache

import tensorflow as tf

from tfdbg_cli.capture.tf.compat import Session

v1 = tf.compat.v1


@cache
def monitored_base() -> type:
    """The class of which MonitoredSession and SingularMonitoredSession are."""
    return _ancestor(v1.train.MonitoredSession, "_MonitoredSession")


@cache
def plain_base() -> type:
    """The class of which Session and InteractiveSession are."""
    return _ancestor(Session, "BaseSession")


@cache
def function_class() -> type:
    """The class of what `tf.function` makes. Its `__call__` is where a program enters a function."""
    return type(tf.function(lambda: None))


@cache
def strategy_base() -> type:
    """The class whose `run` all strategies of tf.distribute have, the default one included."""
    return _ancestor(tf.distribute.Strategy, "StrategyBase")


def _ancestor(kind: type, name: str) -> type:
    return next(base for base in kind.__mro__ if base.__name__ == name)
