"""Stores what ops draw in hidden variables as soon as it is drawn, since a run that fails returns no fetches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import tensorflow as tf

from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.sessions import variable_ops
from tfdbg_cli.capture.sessions.call_state import CallState
from tfdbg_cli.capture.sessions.exact.traffic import traffic_of
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX, NewOp, hidden_ops
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import FetchedValue, Op, RawSession, SymbolicTensor
from tfdbg_cli.process.interruptions import our_errors


class Stash:
    """Hidden variables of a session, one for each of the tensors `sources`. For one run at a time."""

    def __init__(self, session: RawSession, sources: Sequence[SymbolicTensor]) -> None:
        """Add the ops, the first time.

        Raises:
            tf.errors.OpError: TensorFlow does not take them.

        """
        self._session = session
        self._sources = sources
        hidden = hidden_ops(session.graph)
        holders = hidden.once({("stash", one.name): partial(_holder, one) for one in sources})
        self._handles = [holder.outputs[0] for holder in holders]
        pairs = list(zip(sources, self._handles, strict=True))
        self.targets: list[Op] = hidden.once(
            {("stashed", one.name): partial(_assignment, one, handle) for one, handle in pairs}
        )
        self._clearing = hidden.once({("unstash", one.name): partial(_removal, handle) for one, handle in pairs})
        self._reads = hidden.once({("read stash", one.name): partial(_read, one, handle) for one, handle in pairs})
        # Asked before a read: TensorFlow warns on standard error of a read that fails.
        self._questions = hidden.once({("stash has", one.name): partial(_question, handle) for one, handle in pairs})

    def clear(self) -> None:
        """Forget what an earlier run put aside."""
        with INSIDE:
            self._session.run(self._clearing)

    def values(self) -> dict[str, FetchedValue]:
        """What was put aside, by the name of the source; what the run did not come to is missing."""
        with INSIDE:
            answers = self._session.run([question.outputs[0] for question in self._questions])
            there = [at for at, has in enumerate(answers) if has]
            values = self._session.run([self._reads[at].outputs[0] for at in there])
        return {self._sources[at].name: value for at, value in zip(there, values, strict=True)}


def stash_of(session: RawSession, state: CallState, elsewhere: Collection[str] = ()) -> Stash | None:
    """The stash for what a call draws, in case it fails; None if it draws nothing, or storing could change it.

    `elsewhere` names ops in whose place shadow ops run: a stash must not make the original run, too.
    """
    sources = state.sources
    if not sources or state.unordered or not traffic_of(session).alone:
        return None
    if any(source.op.name in elsewhere for source in sources):
        return None
    try:
        stash = Stash(session, sources)
        stash.clear()
    except our_errors(RuntimeError):  # the session is closed, of which the program hears by its own run
        return None
    except our_errors() as error:  # a run that fails then has no values to show
        report("prepare for a run that fails", error)
        return None
    return stash


def take_from(stash: Stash, held: RunSnapshot) -> None:
    """Tell `held` what was put aside of a run that failed."""
    try:
        held.drew_until_failure(stash.values())
    except our_errors(RuntimeError):  # the session was closed meanwhile, and the run failed for that
        return
    except our_errors() as error:  # what the program hears of is its own error
        report("look at what a run drew before it failed", error)


def _holder(source: SymbolicTensor, _: int) -> list[NewOp]:
    name = f"{PREFIX}stash.{source.name}".encode()
    attributes = {"dtype": source.dtype.base_dtype, "shape": tf.TensorShape(None), "shared_name": name}
    return [NewOp("VarHandleOp", (), attributes, (), source.device)]


def _assignment(source: SymbolicTensor, handle: SymbolicTensor, _: int) -> list[NewOp]:
    return [variable_ops.write(handle, source, source.dtype.base_dtype, source.device)]


def _removal(handle: SymbolicTensor, _: int) -> list[NewOp]:
    return [NewOp("DestroyResourceOp", [handle], {"ignore_lookup_error": True}, (), handle.device)]


def _read(source: SymbolicTensor, handle: SymbolicTensor, _: int) -> list[NewOp]:
    return [variable_ops.read(handle, source.dtype.base_dtype, handle.device)]


def _question(handle: SymbolicTensor, _: int) -> list[NewOp]:
    return [variable_ops.has_value(handle, handle.dtype, handle.device)]
