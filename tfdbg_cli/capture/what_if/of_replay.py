"""Parts of a run that is held or saved, computed again with other values."""

from __future__ import annotations

import weakref
from contextlib import ExitStack

import tensorflow as tf

from tfdbg_cli.capture.replay.foreign_graph import imported
from tfdbg_cli.capture.replay.function import inputs_of
from tfdbg_cli.capture.replay.registered import refusals, registered
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.what_if.function import FunctionWhatIf
from tfdbg_cli.capture.what_if.session import SessionWhatIf
from tfdbg_cli.capture.what_if.whole_run import WholeWhatIf
from tfdbg_cli.model.replay import InputRole, ReplaySpec
from tfdbg_cli.model.runs import WhatIf


def what_if_of(replay_spec: ReplaySpec, room: int | None = None) -> WhatIf:
    """The means to compute parts of a run again, whose values are those of `replay_spec` made again.

    Args:
        replay_spec: the run.
        room: how many bytes the values of branches and loops may take together; None: any.

    Raises:
        TfdbgError: TensorFlow does not take the graph or the inputs.

    """
    of_session = replay_spec.kind.of_session
    part = _of_session(replay_spec) if of_session else _of_function(replay_spec, room)
    return WholeWhatIf(part, [item.tensor for item in replay_spec.inputs if item.role is InputRole.SOURCE])


def _of_session(replay_spec: ReplaySpec) -> SessionWhatIf:
    session = compat.Session(graph=imported(replay_spec.graph))
    return SessionWhatIf(RunCall(session, session.run, list(replay_spec.fetches), replay_spec.fed, None, None))


def _of_function(replay_spec: ReplaySpec, room: int | None) -> FunctionWhatIf:
    with ExitStack() as stack, own_ops(), tf.device(None), refusals():
        root, details, _ = stack.enter_context(registered(replay_spec))
        found = FunctionWhatIf(root, inputs_of(replay_spec.inputs, root, details), room)
        weakref.finalize(found, stack.pop_all().close).atexit = False
        return found
