"""Session runs on the path of an intercepted call."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from tfdbg_cli.capture.controller import EVERYTHING, Action, Controller, Plan
from tfdbg_cli.capture.estimate import estimate
from tfdbg_cli.capture.op_errors import with_inputs
from tfdbg_cli.capture.performing import Capture, performed
from tfdbg_cli.capture.profiling import ProfileCapture
from tfdbg_cli.capture.session.call_names import call_of, fed, fetched
from tfdbg_cli.capture.session.choice import choose_graph
from tfdbg_cli.capture.session.invocation import Invocation
from tfdbg_cli.capture.session.program_graph import program_graph, tracebacks_of
from tfdbg_cli.capture.session.python_graph import PythonCapture
from tfdbg_cli.capture.session.reach import Reach, chooser, reach
from tfdbg_cli.capture.session.runtime_graph import RuntimeCapture
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Call, Estimate, Run, RunError, RunStart


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
        )

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: Path | None = None) -> Estimate:
        reached = reached_by(self._invocation)
        settings = self._controller.settings
        plan = Plan(0, Action.CAPTURE, capture=capture, watching=watching)
        kind, _ = choose_graph(plan, settings, self._invocation.session, reached)
        admits = chooser(capture).admits
        tensors = [tensor for tensor in reached.tensors if tensor.name not in reached.opaque and admits(tensor)]
        return estimate(tensors, fed(self._invocation.feeds), kind, settings, directory)

    def arguments(self) -> tuple[object, object]:
        return self._invocation.fetches, self._invocation.feeds


def reached_by(invocation: Invocation) -> Reach:
    """What `invocation` computes."""
    graph = invocation.session.graph
    elements = fetched(graph, invocation.fetches)
    ends = [tensor.op for tensor in elements.tensors] + list(elements.targets)
    return reach(graph, ends, fed(invocation.feeds))


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
        reached = reached_by(self._invocation)
        kind, notes = choose_graph(plan, controller.settings, self._invocation.session, reached)
        if kind is GraphKind.PYTHON:
            return PythonCapture(self._invocation, plan, reached, notes)
        return RuntimeCapture(self._invocation, plan, reached, notes)

    def uncaptured(self, call: Call, failure: RunError) -> Run:
        graph = self._invocation.session.graph
        notes = ("This run was not captured, so only the inputs of the failing op are shown.",)
        return Run(call, graph=program_graph(graph), tracebacks=tracebacks_of(graph), error=failure, notes=notes)

    def with_inputs(self, run: Run) -> Run:
        return with_inputs(run, self._invocation)


def intercepted(controller: Controller, invocation: Invocation) -> Any:
    """Perform `invocation` as `controller` wants it, and give back what it gives. See `performing.performed`."""
    return performed(controller, SessionRun(invocation))
