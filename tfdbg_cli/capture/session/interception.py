"""Session runs on the path of an intercepted call."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from tfdbg_cli.capture.controller import EVERYTHING, Action, Controller, Plan, Watched
from tfdbg_cli.capture.estimate import estimate
from tfdbg_cli.capture.mishaps import report
from tfdbg_cli.capture.op_errors import OpError
from tfdbg_cli.capture.performing import Capture, performed
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.session.call_names import call_of, fed
from tfdbg_cli.capture.session.choice import choose_graph
from tfdbg_cli.capture.session.failing_op import with_inputs
from tfdbg_cli.capture.session.holding_capture import HoldingCapture
from tfdbg_cli.capture.session.invocation import Invocation
from tfdbg_cli.capture.session.profile import ProfileCapture
from tfdbg_cli.capture.session.program_graph import program_graph, tracebacks_of
from tfdbg_cli.capture.session.python_graph import PythonCapture
from tfdbg_cli.capture.session.reach import chooser
from tfdbg_cli.capture.session.runtime_graph import RuntimeCapture
from tfdbg_cli.capture.session.watch_capture import WatchCapture
from tfdbg_cli.capture.session.watched_call import reached_by, watched_call, why_not_inside
from tfdbg_cli.capture.what_if.steppers import SteppableRun
from tfdbg_cli.model.decision import CaptureRequest, GraphChoice, Values
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Call, Estimate, Run, RunError, RunStart

_OUTSIDE = (
    "The run was not checked inside TensorFlow, since {reason}. Its values were taken and looked at one by one, "
    "which is slow, and ops that the optimizer merged are not seen."
)


class Pending:
    """The run about to happen, as the debugger sees it (`controller.PendingRun`)."""

    __slots__ = ("_controller", "_invocation")

    def __init__(self, invocation: Invocation, controller: Controller) -> None:
        self._invocation = invocation
        self._controller = controller

    def start(self, number: int) -> RunStart:
        graph = self._invocation.session.graph
        return RunStart(
            call_of(self._invocation, number, threading.current_thread().name),
            program_graph(graph),
            tracebacks_of(graph),
            estimate=self.estimate(EVERYTHING),
            steppable=SteppableRun(self._invocation),
        )

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: Path | None = None) -> Estimate:
        reached = reached_by(self._invocation)
        settings = self._controller.settings
        kind, _ = choose_graph(capture.graph, watching, settings, self._invocation.session, reached)
        admits = chooser(capture).admits
        tensors = [tensor for tensor in reached.tensors if tensor.name not in reached.opaque and admits(tensor)]
        return estimate(tensors, fed(self._invocation.feeds), kind, settings, directory)

    def arguments(self) -> tuple[object, object]:
        return self._invocation.arguments


class SessionRun:
    """A call of a session, or of a runner made from one (`performing.Interceptable`)."""

    __slots__ = ("_invocation",)

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    def plain(self) -> Any:
        return self._invocation.plain()

    def pending(self, controller: Controller) -> Pending:
        return Pending(self._invocation, controller)

    def described(self, number: int, thread: str) -> Call:
        return call_of(self._invocation, number, thread)

    def capture(self, controller: Controller, plan: Plan) -> Capture:
        if plan.action is Action.PROFILE:
            return ProfileCapture(self._invocation)
        question = None if plan.watched is None else question_of(plan.watched.tensor_filter)
        if plan.watched is None or question is None:
            capture = self._shown(controller, plan)
        else:
            capture = self._checked(controller, plan, plan.watched, question)
        # Reading the variables before each of many runs is worth it only where somebody asks for it.
        holds = plan.watched is None or plan.watched.repeatable
        return (
            HoldingCapture(capture, self._invocation) if holds and not isinstance(capture, WatchCapture) else capture
        )

    def _shown(self, controller: Controller, plan: Plan, note: str = "") -> Capture:
        """The capture of all values, in the graph that is to be shown."""
        reached = reached_by(self._invocation)
        wanted = GraphChoice.RUNTIME if plan.watch is not None else plan.capture.graph
        kind, notes = choose_graph(wanted, plan.watching, controller.settings, self._invocation.session, reached)
        notes = (*notes, note) if note else notes
        if kind is GraphKind.PYTHON:
            return PythonCapture(self._invocation, plan, reached, notes)
        return RuntimeCapture(self._invocation, plan, reached, notes)

    def _checked(self, controller: Controller, plan: Plan, watched: Watched, question: Question) -> Capture:
        """The capture that checks the run in its graph; that of all values where it cannot be done exactly."""
        wanted = plan.capture.graph
        if wanted is GraphChoice.AUTO:
            wanted = GraphChoice(controller.settings.graph)
        if wanted is GraphChoice.RUNTIME:
            return self._shown(controller, plan)
        reason = why_not_inside(self._invocation, keeping=watched.values is Values.KEEP, question=question)
        if reason:
            return self._shown(controller, plan, _OUTSIDE.format(reason=reason))
        try:
            call = watched_call(self._invocation, question, watched, plan.capture)
        except OpError as error:
            report("add checks to a graph", error)
            return self._shown(controller, plan, _OUTSIDE.format(reason="TensorFlow did not take the checks"))
        if call.unasked:
            return self._shown(controller, plan, _OUTSIDE.format(reason=f"too little is known of {call.unasked}"))
        return WatchCapture(self._invocation, plan, watched, call, controller.settings)

    def uncaptured(self, call: Call, failure: RunError) -> Run:
        graph = self._invocation.session.graph
        notes = ("This run was not captured, so only the inputs of the failing op are shown.",)
        return Run(call, graph=program_graph(graph), tracebacks=tracebacks_of(graph), error=failure, notes=notes)

    def with_inputs(self, run: Run) -> Run:
        return with_inputs(run, self._invocation)


def intercepted(controller: Controller, invocation: Invocation) -> Any:
    """Perform `invocation` as `controller` wants it, and give back what it gives. See `performing.performed`."""
    return performed(controller, SessionRun(invocation))
