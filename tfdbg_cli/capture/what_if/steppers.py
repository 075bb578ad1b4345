"""Steppers of runs: of one that is about to happen, and of one that can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tensorflow as tf

from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.replay.function import FunctionDetails, inputs_of, renamed, root_of
from tfdbg_cli.capture.sessions.call_names import fed, fetched
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.capture.what_if.function_program import FunctionProgram, copies_of, values_now
from tfdbg_cli.capture.what_if.session_program import SessionProgram, graph_of, values_in
from tfdbg_cli.capture.what_if.stepping import NodeStepper
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import Replayable, ReplaySpec, Role
from tfdbg_cli.model.stepping import Stepper


@dataclass(frozen=True)
class SteppableCall:
    """A call of the function of `root` with `inputs` that is about to happen (`model.stepping.Steppable`)."""

    root: Scope
    inputs: Sequence[EagerTensor]

    def stepper(self) -> Stepper:
        """See Steppable."""
        with INSIDE, tf.device(None), compat.not_recording():
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
    if replay_spec.kind in (RunKind.SESSION, RunKind.CALLABLE):
        return NodeStepper(_session(replay_spec))
    raise TfdbgError(f"A run of the kind {replay_spec.kind} cannot be stepped through.")


def _function(replay_spec: ReplaySpec) -> FunctionProgram:
    details = FunctionDetails.unpacked(replay_spec.details)
    definitions, entry = renamed(replay_spec)
    added: list[str] = []

    def forget() -> None:
        for name in reversed(added):
            compat.remove_function(name)

    try:
        for definition in definitions:
            compat.add_function(definition)
            added.append(definition.signature.name)
        root = root_of(entry, replay_spec.inputs, details)
        types = {name.rpartition(":")[0]: op_type for name, (op_type, _) in details.drawn.items()}
        return FunctionProgram(root, lambda: inputs_of(replay_spec.inputs, root, details), forget, types)
    except (tf.errors.OpError, ValueError, TypeError) as error:
        forget()
        raise TfdbgError(
            f"TensorFlow does not take the function or its inputs: {type(error).__name__}: {error}"
        ) from error


def _session(replay_spec: ReplaySpec) -> SessionProgram:
    graph = graph_of(replay_spec.graph)
    given = {item.name: item.value for item in replay_spec.inputs if item.role is not Role.VARIABLE}
    elements = [graph.as_graph_element(name) for name in replay_spec.fetches]
    program = SessionProgram([getattr(element, "op", element) for element in elements], given)
    program.take({item.node: item.value for item in replay_spec.inputs if item.role is Role.VARIABLE})
    return program
