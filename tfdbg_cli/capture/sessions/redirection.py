"""A session's runs redirected on their way to the runtime: to other ops, or so that their values are noted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

import tensorflow as tf

from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.capture.tf.types import FetchedValue, Method, Op, RawSession, RunMetadata, RunOptions, SymbolicTensor


class Redirection(Protocol):
    """Which ops and tensors take the place of those that a session is told to run and to fetch."""

    def op(self, op: Op) -> Op:
        """What runs in the place of `op`."""
        ...

    def tensor(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """What is computed in the place of `tensor`."""
        ...

    def named(self, text: str) -> str:
        """The message of an error with the names that the program knows."""
        ...


# Fetches tensors and runs ops by the runtime; returns the values as the runtime does.
_Proceed: TypeAlias = "Callable[[Sequence[SymbolicTensor], Sequence[Op]], Sequence[FetchedValue]]"
# Called instead of that when a session is told to fetch tensors and to run ops; may call `_Proceed` itself.
_Way: TypeAlias = "Callable[[_Proceed, Sequence[SymbolicTensor], Sequence[Op]], Sequence[FetchedValue]]"


class _Ways(threading.local):
    session: RawSession = None
    way: _Way | None = None


_WAYS = _Ways()
_REPLACING = threading.Lock()
_REPLACED: list[Method] = []  # the session's own method, once for each context that has replaced it


@contextmanager
def _run_by(session: RawSession, way: _Way) -> Iterator[None]:
    """A context in which the runs that this thread makes of `session` are made by `way`."""
    base = base_classes.plain_base()
    with _REPLACING:
        _REPLACED.append(_REPLACED[0] if _REPLACED else getattr(base, compat.RUN))
        setattr(base, compat.RUN, _redirecting(_REPLACED[0]))
    before = _WAYS.session, _WAYS.way
    _WAYS.session, _WAYS.way = session, way
    try:
        yield
    finally:
        _WAYS.session, _WAYS.way = before
        with _REPLACING:
            original = _REPLACED.pop()
            if not _REPLACED:
                setattr(base, compat.RUN, original)


@contextmanager
def redirected(session: RawSession, redirection: Redirection | None) -> Iterator[None]:
    """A context in which the runs that this thread makes of `session` are redirected, if there is a redirection.

    Errors of ops name those of the program.
    """
    if redirection is None:
        yield
        return

    def way(proceed: _Proceed, tensors: Sequence[SymbolicTensor], ops: Sequence[Op]) -> Sequence[FetchedValue]:
        with named_by(redirection):
            return proceed(list(map(redirection.tensor, tensors)), list(map(redirection.op, ops)))

    with _run_by(session, way):
        yield


@contextmanager
def recorded(session: RawSession) -> Iterator[dict[str, FetchedValue]]:
    """A context that notes the values which this thread's runs of `session` fetch, by name."""
    found: dict[str, FetchedValue] = {}

    def way(proceed: _Proceed, tensors: Sequence[SymbolicTensor], ops: Sequence[Op]) -> Sequence[FetchedValue]:
        values = proceed(tensors, ops)
        found.update(zip((tensor.name for tensor in tensors), values, strict=True))
        return values

    with _run_by(session, way):
        yield found


@contextmanager
def answered(session: RawSession, values: Mapping[str, FetchedValue]) -> Iterator[None]:
    """A context in which this thread's runs of `session` run nothing, and fetch `values`, by name of tensor."""
    with _run_by(session, lambda proceed, tensors, ops: [values[tensor.name] for tensor in tensors]):
        yield


@contextmanager
def named_by(redirection: Redirection | None) -> Iterator[None]:
    """A context in which messages of OpErrors are rewritten, so that they name the program's ops instead of ours."""
    try:
        yield
    except tf.errors.OpError as error:
        if redirection is not None:
            compat.set_error_message(error, redirection.named(error.message))
        raise


def _redirecting(original: Callable[..., Sequence[FetchedValue]]) -> Method:
    def run(
        session: RawSession, options: RunOptions, feeds: Any, outputs: Any, c_ops: Any, run_metadata: RunMetadata
    ) -> Sequence[FetchedValue]:
        way = _WAYS.way if _WAYS.session is session else None
        if way is None:
            return original(session, options, feeds, outputs, c_ops, run_metadata)

        def proceed(tensors: Sequence[SymbolicTensor], ops: Sequence[Op]) -> Sequence[FetchedValue]:
            return original(session, options, feeds, *compat.as_run_elements(tensors, ops), run_metadata)

        return way(proceed, *compat.run_elements(session.graph, outputs, c_ops))

    return run
