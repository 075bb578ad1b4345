"""Runs of sessions as interceptable calls, and how each is looked at."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tfdbg_cli.capture.controller import EVERYTHING, Action, Controller, Plan, WatchRequest
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.interceptable import Capture
from tfdbg_cli.capture.pipeline import performed
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.runs.session.copied_watch import CopiedDump, CopiedWatch
from tfdbg_cli.capture.runs.session.failing_op import with_inputs
from tfdbg_cli.capture.runs.session.graph_choice import choose_graph
from tfdbg_cli.capture.runs.session.in_place import InPlace
from tfdbg_cli.capture.runs.session.insides_again import InsidesAgain
from tfdbg_cli.capture.runs.session.profile import ProfileCapture
from tfdbg_cli.capture.runs.session.python_graph import PythonCapture
from tfdbg_cli.capture.runs.session.runtime_graph import RuntimeCapture
from tfdbg_cli.capture.runs.session.unchanged_capture import UnchangedCapture
from tfdbg_cli.capture.runs.session.watched_run import WatchedRun
from tfdbg_cli.capture.runs.session.ways import estimate_of, graph_asked_for, kind_shown, why_in_place, why_not_again
from tfdbg_cli.capture.sessions.call_names import call_of, looks_at
from tfdbg_cli.capture.sessions.exact.traffic import traffic_of
from tfdbg_cli.capture.sessions.extended.call_checks import (
    call_checks,
    call_kind,
    reached_by,
    state_of,
    why_not_inside,
)
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.program_graph import program_graph
from tfdbg_cli.capture.sessions.reach import Reach
from tfdbg_cli.capture.sessions.session_variables import SessionVariables
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.tracebacks import tracebacks_of
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.capture.what_if.steppers import SteppableRun
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.decision import CaptureRequest, GraphChoice, Values
from tfdbg_cli.model.graph import RUNTIME_GRAPH_SHOWN, GraphKind
from tfdbg_cli.model.runs import Estimate, Run, RunStart

_OUTSIDE = (
    "The run was not checked inside TensorFlow, since {reason}. Its values were taken and looked at one by one, "
    "which is slow, and ops that the optimizer merged are not seen."
)
_UNORDERED = (
    "Ops of this run use {name} in no order that the graph fixes. One more op could change the order that TensorFlow "
    "takes, so the run was left as it is, and looked at when it was made again on copies."
)
_TRACED = (
    "The program has TensorFlow tell which ops this run makes, so it was left as it is, and looked at when it was "
    "made again on copies."
)
_PARTED = (
    "Watched, runs of this kind give other last digits than left alone ({names}), so this one was left as it is, and "
    "looked at when it was made again on copies."
)


class PendingSessionRun:
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
            variables=SessionVariables(self._invocation.session),
        )

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: Path | None = None) -> Estimate:
        settings = self._controller.settings
        kind = kind_shown(self._invocation, capture, settings, watching, directory)
        return estimate_of(self._invocation, capture, kind, settings, directory)

    def arguments(self) -> tuple[object, object]:
        return self._invocation.arguments


@dataclass(frozen=True)
class _Choice:
    """Chooses the capture for one run."""

    invocation: Invocation
    plan: Plan
    settings: Settings

    def capture(self) -> Capture:
        """The capture that carries out the plan."""
        watched = self.plan.watched
        question = None if watched is None else question_of(watched.tensor_filter)
        return self._shown() if watched is None or question is None else self._checked(watched, question)

    def _shown(self, note: str = "") -> Capture:
        """The capture of all values, from the replay of the run if possible, else while it happens."""
        notes = (note,) if note else ()
        wanted = graph_asked_for(self.plan.capture, self.settings)
        reason = why_in_place(self.invocation, self.plan, self.settings)
        if reason:
            return self._in_place(reason, notes)
        in_place = partial(self._in_place, notes=notes)
        if wanted is GraphChoice.RUNTIME:
            return CopiedDump(self.invocation, self.plan, in_place, (RUNTIME_GRAPH_SHOWN, *notes))
        return UnchangedCapture(self.invocation, self.plan, in_place, notes)

    def _in_place(self, why: str, notes: tuple[str, ...]) -> Capture:
        """The capture of all values while the run happens."""
        reached = reached_by(self.invocation)
        wanted = GraphChoice.RUNTIME if self.plan.watch_options is not None else self.plan.capture.graph
        kind, about = choose_graph(wanted, self.plan.watching, self.settings, self.invocation.session, reached)
        made = PythonCapture if kind is GraphKind.PYTHON else RuntimeCapture
        capture = made(self.invocation, self.plan, reached, (*about, *notes))
        updates = self.plan.capture if self.plan.watch_options is None else None
        return InPlace(capture, self.invocation, why, updates, self._insides(reached, kind))

    def _insides(self, reached: Reach, kind: GraphKind) -> InsidesAgain | None:
        """What completes the values of a watched run that calls functions, of which nothing can be fetched."""
        watched = self.plan.watched
        if watched is None or kind is not GraphKind.PYTHON or not reached.calls or why_not_again(self.invocation):
            return None
        needed = partial(estimate_of, self.invocation, self.plan.capture, kind, self.settings, None)
        return InsidesAgain(self.invocation, watched, self.plan.capture, needed)

    def _checked(self, watched: WatchRequest, question: Question) -> Capture:
        """The capture that checks the run by ops in its graph; of all values where such checks miss something."""
        if graph_asked_for(self.plan.capture, self.settings) is GraphChoice.RUNTIME:
            return self._shown()
        reason = why_not_inside(self.invocation, keeping=watched.values is Values.KEEP, question=question)
        if reason:
            return self._shown(_OUTSIDE.format(reason=reason))
        unordered = state_of(self.invocation).unordered
        alone = _UNORDERED.format(name=unordered) if unordered else _TRACED if self.invocation.is_traced else ""
        if alone and not why_not_again(self.invocation):
            return self._copied(watched, question, alone)
        return self._checked_in_place(watched, question)

    def _copied(self, watched: WatchRequest, question: Question, why: str) -> Capture:
        """The capture that checks the run when it is made again."""

        def in_place(_: str) -> Capture:
            return self._checked_in_place(watched, question, uninitialized=True)

        needed = partial(estimate_of, self.invocation, self.plan.capture, GraphKind.PYTHON, self.settings, None)
        return CopiedWatch(self.invocation, self.plan, in_place, question, watched, needed, (why,))

    def _checked_in_place(self, watched: WatchRequest, question: Question, *, uninitialized: bool = False) -> Capture:
        """The capture that checks the run itself."""
        try:
            call = call_checks(self.invocation, question, watched, self.plan.capture)
        except OpError as error:
            report("add checks to a graph", error)
            return self._shown(_OUTSIDE.format(reason="TensorFlow did not take the checks"))
        if call.unasked:
            return self._shown(_OUTSIDE.format(reason=f"too little is known of {call.unasked}"))
        differs = watched.values is not Values.KEEP and call.trial.differs
        if differs and not uninitialized and not why_not_again(self.invocation):
            return self._copied(watched, question, _PARTED.format(names=differs[0]))
        return WatchedRun(self.invocation, self.plan, watched, call, self.settings)


class SessionRun:
    """A call of a session, or of a runner made from one (`interceptable.Interceptable`)."""

    __slots__ = ("_invocation",)

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    @property
    def looks_at(self) -> Hashable:
        """The session, and what of its graph is run."""
        return looks_at(self._invocation)

    def plain(self) -> RunResult:
        return self._invocation.plain()

    def pending(self, controller: Controller) -> PendingSessionRun:
        return PendingSessionRun(self._invocation, controller)

    def described(self, number: int, thread: str) -> Call:
        return call_of(self._invocation, number, thread)

    def capture(self, controller: Controller, plan: Plan) -> Capture:
        if plan.action is Action.PROFILE:
            return ProfileCapture(self._invocation)
        return _Choice(self._invocation, plan, controller.settings).capture()

    def uncaptured(self, call: Call, failure: RunError) -> Run:
        graph = self._invocation.session.graph
        lacks = "This run was not captured, so only the inputs of the failing op are shown."
        return Run(
            call,
            graph=program_graph(graph),
            tracebacks=tracebacks_of(graph),
            error=failure,
            notes=(lacks,),
            lacks=lacks,
        )

    def with_inputs(self, run: Run) -> Run:
        return replace(with_inputs(run, self._invocation), variables=SessionVariables(self._invocation.session))


def intercepted(controller: Controller, invocation: Invocation) -> RunResult:
    """Perform `invocation` as `controller` wants it, and give back what it gives. See `pipeline.performed`."""
    with traffic_of(invocation.session).run(invocation, call_kind):
        return performed(controller, SessionRun(invocation))
