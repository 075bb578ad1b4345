"""Parts of a run that is held or saved, computed again with other values."""

from __future__ import annotations

import tensorflow as tf

from tfdbg_cli.capture.replay.function import FunctionDetails, inputs_of, renamed, root_of
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.what_if.function import FunctionWhatIf
from tfdbg_cli.capture.what_if.session import SessionWhatIf
from tfdbg_cli.capture.what_if.session_program import graph_of
from tfdbg_cli.capture.what_if.whole_run import WholeWhatIf
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import ReplaySpec, Role
from tfdbg_cli.model.runs import WhatIf

v1 = compat.v1


def what_if_of(replay_spec: ReplaySpec, room: int | None = None) -> WhatIf:
    """The means to compute parts of a run again, whose values are those of `replay_spec` made again.

    Args:
        replay_spec: the run.
        room: how many bytes the values of branches and loops may take together; None: any.

    Raises:
        TfdbgError: TensorFlow does not take the graph or the inputs.

    """
    sessions = (RunKind.SESSION, RunKind.CALLABLE)
    return WholeWhatIf(_of_session(replay_spec) if replay_spec.kind in sessions else _of_function(replay_spec, room))


def _of_session(replay_spec: ReplaySpec) -> SessionWhatIf:
    session = v1.Session(graph=graph_of(replay_spec.graph))
    given = {item.name: item.value for item in replay_spec.inputs if item.role is not Role.VARIABLE}
    return SessionWhatIf(RunCall(session, session.run, list(replay_spec.fetches), given, None, None))


def _of_function(replay_spec: ReplaySpec, room: int | None) -> FunctionWhatIf:
    details = FunctionDetails.unpacked(replay_spec.details)
    definitions, entry = renamed(replay_spec)
    try:
        with INSIDE, tf.device(None), compat.not_recording():
            for definition in definitions:
                compat.add_function(definition)
            root = root_of(entry, replay_spec.inputs, details)
            return FunctionWhatIf(root, inputs_of(replay_spec.inputs, root, details), room)
    except (tf.errors.OpError, ValueError, TypeError) as error:
        raise TfdbgError(
            f"TensorFlow does not take the function or its inputs: {type(error).__name__}: {error}"
        ) from error
