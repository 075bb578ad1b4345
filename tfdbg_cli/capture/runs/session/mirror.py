"""A replay as a call of the session's copy, so that captures and checks of calls can be used on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tfdbg_cli.capture.replay.session_copy import SessionCopy
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import RawSession, RunResult, SymbolicTensor
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.values import Array


class Mirror:
    """One run about to be made in a copy, whose variables are as they were before it."""

    def __init__(self, copy: SessionCopy, session: RawSession, given: dict[SymbolicTensor, Array]) -> None:
        self.call = RunCall(session, session.run, copy.elements, given, None, None)
        self._copy = copy
        self._session = session

    def outcome(self, result: RunResult) -> RunEffect:
        """The outcome of the run: `result`, which the call gave, and what it left in the variables."""
        return self._copy.outcome(result, self._copy.after(self._session))


@contextmanager
def mirrored(copy: SessionCopy, replay_spec: ReplaySpec) -> Iterator[Mirror]:
    """A context in which the run `replay_spec` is about to be made in `copy`, once.

    Raises:
        TfdbgError: TensorFlow does not take the inputs.

    """
    with copy.lock, INSIDE:
        session = copy.begin(replay_spec)
        yield Mirror(copy, session, copy.given(replay_spec))
