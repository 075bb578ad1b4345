"""The path of one intercepted call: ask the debugger, perform the call once, hand over what it gave."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tfdbg_cli.capture.call_names import call_of, fed, fetched
from tfdbg_cli.capture.choice import choose_graph
from tfdbg_cli.capture.controller import EVERYTHING, Action, Controller, Plan
from tfdbg_cli.capture.estimate import estimate
from tfdbg_cli.capture.invocation import Invocation
from tfdbg_cli.capture.mishaps import report
from tfdbg_cli.capture.op_errors import OpError, run_error, with_inputs
from tfdbg_cli.capture.profiling import ProfileCapture
from tfdbg_cli.capture.program_graph import program_graph, tracebacks_of
from tfdbg_cli.capture.python_graph import PythonCapture
from tfdbg_cli.capture.reach import Reach, chooser, reach
from tfdbg_cli.capture.runtime_graph import RuntimeCapture
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Call, Estimate, Run, RunError, RunStart
from tfdbg_cli.own_frames import without_our_frames


class Capture(Protocol):
    """One way to take what a run does. Used once: `perform`, then `run`, then `finish`."""

    def perform(self) -> Any:
        """Make the call. Raises what the call raises."""
        ...

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was taken."""
        ...

    def finish(self, keep: bool) -> None:
        """Leave nothing behind, or what was asked to be kept."""
        ...


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


def intercepted(controller: Controller, invocation: Invocation) -> Any:
    """Perform `invocation` as `controller` wants it, and give back what it gives.

    It is performed once, whatever fails on our side. Its exceptions come out as the very same objects.
    """
    try:
        plan = controller.run_starts(Pending(invocation, controller))
    except Exception as error:  # noqa: BLE001
        report("look at a run", error)
        return invocation.plain()
    if plan.action is Action.LEAVE:
        return _left_alone(controller, plan, invocation)
    try:
        capture = _capture(controller, plan, invocation)
    except Exception as error:  # noqa: BLE001
        report("prepare the capture of a run", error)
        controller.run_abandoned(plan)
        return invocation.plain()
    return _captured(controller, plan, invocation, capture)


def _left_alone(controller: Controller, plan: Plan, invocation: Invocation) -> Any:
    if not plan.errors:
        return invocation.plain()
    try:
        return invocation.plain()
    except OpError as error:
        failure = run_error(error)
        _hand_over(controller, plan, invocation, lambda call: _uncaptured(invocation, call, failure))
        error.__traceback__ = without_our_frames(error.__traceback__)
        raise


def _uncaptured(invocation: Invocation, call: Call, failure: RunError) -> Run:
    graph = invocation.session.graph
    notes = ("This run was not captured, so only the inputs of the failing op are shown.",)
    return Run(call, graph=program_graph(graph), tracebacks=tracebacks_of(graph), error=failure, notes=notes)


def _capture(controller: Controller, plan: Plan, invocation: Invocation) -> Capture:
    if plan.action is Action.PROFILE:
        return ProfileCapture(invocation)
    reached = reached_by(invocation)
    kind, notes = choose_graph(plan, controller.settings, invocation.session, reached)
    if kind is GraphKind.PYTHON:
        return PythonCapture(invocation, plan, reached, notes)
    return RuntimeCapture(invocation, plan, reached, notes)


def _captured(controller: Controller, plan: Plan, invocation: Invocation, capture: Capture) -> Any:
    keep = False
    try:
        result = capture.perform()
        keep = _hand_over(controller, plan, invocation, lambda call: capture.run(call, None))
    except OpError as error:
        failure = run_error(error)
        keep = _hand_over(controller, plan, invocation, lambda call: capture.run(call, failure))
        error.__traceback__ = without_our_frames(error.__traceback__)
        raise
    except BaseException:
        controller.run_abandoned(plan)
        raise
    finally:
        _finish(capture, keep)
    return result


def _hand_over(controller: Controller, plan: Plan, invocation: Invocation, make: Callable[[Call], Run]) -> bool:
    """Report the run to the debugger; whether its dump is to be kept."""
    try:
        run = with_inputs(make(call_of(invocation, plan.number, threading.current_thread().name)), invocation)
        return controller.run_ends(plan, run)
    except Exception as error:  # noqa: BLE001
        report("show a run", error)
        controller.run_abandoned(plan)
        return False


def _finish(capture: Capture, keep: bool) -> None:
    try:
        capture.finish(keep)
    except Exception as error:  # noqa: BLE001
        report("put away a dump", error)
