"""Runs of a session in which other ops run than those that it is told to run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import tensorflow as tf

from tfdbg_cli.capture import compat


class Redirection(Protocol):
    """What runs in the place of what."""

    def op(self, op: Any) -> Any:
        """What runs in the place of `op` (a tf.Operation)."""
        ...

    def tensor(self, tensor: Any) -> Any:
        """What is computed in the place of `tensor`."""
        ...

    def named(self, text: str) -> str:
        """The message of an error with the names that the program knows."""
        ...


class _Redirected(threading.local):
    session: Any = None
    redirection: Redirection | None = None


_REDIRECTED = _Redirected()
_REPLACING = threading.Lock()
_REPLACED: list[Any] = []  # the method of sessions that is replaced, once for each context that wants it so


@contextmanager
def redirected(session: Any, redirection: Redirection | None) -> Iterator[None]:
    """A context in which the runs that this thread makes of `session` are redirected, if there is a redirection.

    Errors of ops name those of the program.
    """
    if redirection is None:
        yield
        return
    base = compat.plain_base()
    with _REPLACING:
        _REPLACED.append(_REPLACED[0] if _REPLACED else getattr(base, compat.RUN))
        setattr(base, compat.RUN, _redirecting(_REPLACED[0]))
    before = _REDIRECTED.session, _REDIRECTED.redirection
    _REDIRECTED.session, _REDIRECTED.redirection = session, redirection
    try:
        yield
    finally:
        _REDIRECTED.session, _REDIRECTED.redirection = before
        with _REPLACING:
            original = _REPLACED.pop()
            if not _REPLACED:
                setattr(base, compat.RUN, original)


@contextmanager
def named_by(redirection: Redirection | None) -> Iterator[None]:
    """A context in which errors of ops name those of the program."""
    try:
        yield
    except tf.errors.OpError as error:
        if redirection is not None:
            compat.set_error_message(error, redirection.named(error.message))
        raise


def _redirecting(original: Callable[..., Any]) -> Callable[..., Any]:
    def run(session: Any, options: Any, feeds: Any, outputs: Any, c_ops: Any, run_metadata: Any) -> Any:
        redirection = _REDIRECTED.redirection if _REDIRECTED.session is session else None
        if redirection is None:
            return original(session, options, feeds, outputs, c_ops, run_metadata)
        tensors, ops = compat.run_elements(session.graph, outputs, c_ops)
        instead = compat.as_run_elements(list(map(redirection.tensor, tensors)), list(map(redirection.op, ops)))
        with named_by(redirection):
            return original(session, options, feeds, *instead, run_metadata)

    return run
