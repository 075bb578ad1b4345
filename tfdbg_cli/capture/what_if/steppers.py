"""Steppers of runs: of one that is about to happen, and of one that can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.replay.foreign_graph import imported
from tfdbg_cli.capture.replay.function import inputs_of
from tfdbg_cli.capture.replay.registered import refusals, registered
from tfdbg_cli.capture.sessions.call_names import fed, fetched
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.capture.what_if.function_program import FunctionProgram, copies_of, values_now
from tfdbg_cli.capture.what_if.session_program import SessionProgram, values_in
from tfdbg_cli.capture.what_if.stepping import NodeStepper
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import Replayable, ReplaySpec
from tfdbg_cli.model.stepping import Stepper


@dataclass(frozen=True)
class SteppableCall:
    """A call of the function of `root` with `inputs` that is about to happen (`model.stepping.Steppable`)."""

    root: Scope
    inputs: Sequence[EagerTensor]

    def stepper(self) -> Stepper:
        """See Steppable."""
        with own_ops(), tf.device(None):
            held = values_now(self.inputs)
        return NodeStepper(FunctionProgram(self.root, lambda: copies_of(self.inputs, held)))


@dataclass(frozen=True)
class SteppableRun:
    """A run of a session that is about to happen (`model.stepping.Steppable`)."""

    invocation: Invocation

    def stepper(self) -> Stepper:
        """See Steppable."""
        session = self.invocation.session
        ends = fetched(session.graph, self.invocation.fetches).ops
        program = SessionProgram(ends, fed(self.invocation.feeds))
        program.take(values_in(session, program.variables))
        return NodeStepper(program)


@dataclass(frozen=True)
class SteppableReplay:
    """A run that is over and can be made again (`model.stepping.Steppable`)."""

    replayable: Replayable

    def stepper(self) -> Stepper:
        """See Steppable."""
        return stepper_of(self.replayable.replay_spec())


def stepper_of(replay_spec: ReplaySpec) -> Stepper:
    """A stepper on a run that was held or saved, at its first node.

    Raises:
        TfdbgError: TensorFlow does not take the graph or the inputs, or no step can be made in it.

    """
    if replay_spec.kind is RunKind.FUNCTION:
        return NodeStepper(_function(replay_spec))
    if replay_spec.kind.of_session:
        return NodeStepper(_session(replay_spec))
    raise TfdbgError(f"A run of the kind {replay_spec.kind} cannot be stepped through.")


def _function(replay_spec: ReplaySpec) -> FunctionProgram:
    with ExitStack() as stack, refusals():
        root, details, _ = stack.enter_context(registered(replay_spec))
        types = {name.rpartition(":")[0]: op_type for name, (op_type, _) in details.drawn.items()}
        fresh = partial(inputs_of, replay_spec.inputs, root, details)
        return FunctionProgram(root, fresh, stack.pop_all().close, types)


def _session(replay_spec: ReplaySpec) -> SessionProgram:
    graph = imported(replay_spec.graph)
    elements = [graph.as_graph_element(name) for name in replay_spec.fetches]
    program = SessionProgram([getattr(element, "op", element) for element in elements], replay_spec.fed)
    program.take(replay_spec.held)
    return program
