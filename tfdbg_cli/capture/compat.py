"""The one place that knows TensorFlow's private parts. tests/capture/test_compat.py says which one broke."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1

FROM_OPTIONS = "_make_callable_from_options"  # the method of a session by which Keras 2 makes its train step


@cache
def monitored_base() -> type:
    """The class of which MonitoredSession and SingularMonitoredSession are."""
    return _ancestor(v1.train.MonitoredSession, "_MonitoredSession")


@cache
def plain_base() -> type:
    """The class of which Session and InteractiveSession are."""
    return _ancestor(v1.Session, "BaseSession")


def _ancestor(kind: type, name: str) -> type:
    return next(base for base in kind.__mro__ if base.__name__ == name)


def add_hook(monitored: Any, hook: Any) -> None:
    """Make `monitored` announce to `hook` every raw session that it will create, and its end."""
    creator = monitored._coordinated_creator
    creator._hooks = [*creator._hooks, hook]
    monitored._hooks = [*monitored._hooks, hook]


def raw_session_of(monitored: Any) -> Any:
    """The `tf.compat.v1.Session` that works inside `monitored`; None once it is closed."""
    return monitored._tf_sess()


def coordinator_of(monitored: Any) -> Any:
    """The coordinator of `monitored`."""
    return monitored._coordinated_creator.coord


def is_hooked_run(fetches: Any) -> bool:
    """Whether a raw session is run for the user's own call of a monitored session (and not for a hook's affairs)."""
    return type(fetches) is dict and "caller" in fetches


def maker_from_options(session: Any) -> Callable[..., Any]:
    """The method of `session` that makes a runner from a `CallableOptions` message, as Keras 2 uses it."""
    maker: Callable[..., Any] = getattr(session, FROM_OPTIONS)
    return maker
