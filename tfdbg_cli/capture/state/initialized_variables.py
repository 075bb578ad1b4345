"""Which variables of a session have a value, asked in a run that cannot fail for want of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import tensorflow as tf

from tfdbg_cli.capture.sessions import variable_ops
from tfdbg_cli.capture.sessions.call_state import UsedVariable
from tfdbg_cli.capture.sessions.hidden_ops import NewOp, hidden_ops
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import RawSession, RunOptions


class InitializedVariables:
    """The variables of one session that are known to have a value.

    TensorFlow writes a warning to standard error where an op fails, also where somebody catches the error. So a
    variable is asked before it is read, until it has a value. Two threads may ask the same at once: no lock is held.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def require(self, session: RawSession, variables: Sequence[UsedVariable], options: RunOptions) -> None:
        """See to it that all `variables` have a value; the run that asks is made with `options`.

        Raises:
            tf.errors.OpError: one has none, or none can be asked.

        """
        having = frozenset(self.among(session, variables, options))
        missing = next((one for one in variables if one not in having), None)
        if missing is not None:  # without the op: TensorFlow would tell the whole stack that made it
            raise tf.errors.FailedPreconditionError(None, None, f"{missing.name} has no value yet.")

    def among(
        self, session: RawSession, variables: Sequence[UsedVariable], options: RunOptions
    ) -> list[UsedVariable]:
        """Those of `variables` that have a value; the run that asks is made with `options`.

        Raises:
            tf.errors.OpError: none can be asked.

        """
        asked = [variable for variable in variables if variable.name not in self._known]
        if asked:
            self._ask(session, asked, options)
        return [variable for variable in variables if variable.name in self._known]

    def _ask(self, session: RawSession, asked: Sequence[UsedVariable], options: RunOptions) -> None:
        ops = hidden_ops(session.graph).once({("has a value", one.name): partial(_question, one) for one in asked})
        answers = compat.reader_of(session, [op.outputs[0].name for op in ops], run_options=options)()
        self._known.update(one.name for one, has_value in zip(asked, answers, strict=True) if has_value)


INITIALIZED = Memo(lambda session: InitializedVariables())  # by session


def _question(variable: UsedVariable, _: int) -> list[NewOp]:
    return [variable_ops.has_value(variable.tensor, variable.dtype, variable.op.device, reference=variable.reference)]
