"""One outermost call of a graph function, not yet performed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.controller import EVERYTHING, Action, Controller, Plan
from tfdbg_cli.capture.failures import report, report_once
from tfdbg_cli.capture.functions.calling.counted_draws import note_plain_call
from tfdbg_cli.capture.functions.graph.forward_function import HandedOver
from tfdbg_cli.capture.functions.signature.arguments import given, given_values
from tfdbg_cli.capture.functions.signature.function_variables import FunctionVariables
from tfdbg_cli.capture.functions.signature.returned_names import as_returned
from tfdbg_cli.capture.interceptable import Capture
from tfdbg_cli.capture.runs.batch_places import batch_places, ids_of
from tfdbg_cli.capture.runs.data_behind import data_behind
from tfdbg_cli.capture.runs.function.capture import WithoutValues
from tfdbg_cli.capture.runs.function.failing_op import with_given
from tfdbg_cli.capture.runs.function.given_before import with_variables_before
from tfdbg_cli.capture.runs.function.profile import FunctionProfile
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction, traced_function
from tfdbg_cli.capture.runs.function.tracing_notes import Entered, tracing_notes
from tfdbg_cli.capture.runs.function.watched_calls import watch_capture
from tfdbg_cli.capture.tf.callers import caller_line
from tfdbg_cli.capture.tf.observers import observed
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import AtomicFunction, EagerTensor, Method, RunResult
from tfdbg_cli.capture.what_if.steppers import SteppableCall
from tfdbg_cli.collection import COLLECTOR
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import reason_of
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.runs import Estimate, Run, RunStart
from tfdbg_cli.process.interruptions import our_errors

_BEFORE = "What is under `{}/` ran in the call of which this is the gradient: what that handed over has a value here."


class FunctionCall:
    """A call of `atomic` with the flat tensors `inputs` (`interceptable.Interceptable`).

    `call_flat` is TensorFlow's own way to make it. `entered` is the tf.function that the program called, if it
    called one: a concrete function and a gradient are called without.
    """

    __slots__ = ("_atomic", "_call_flat", "_entered", "_inputs")

    def __init__(
        self,
        atomic: AtomicFunction,
        inputs: Sequence[EagerTensor],
        call_flat: Method,
        entered: Entered | None,
    ) -> None:
        self._atomic = atomic
        self._inputs = inputs
        self._call_flat = call_flat
        self._entered = entered

    def plain(self) -> RunResult:
        note_plain_call(self.looks_at)
        with INSIDE:
            return self._call_flat(self._atomic, *self._inputs)

    @property
    def draws_apart(self) -> bool:
        try:
            counted = self.traced.counted
            return counted is not None and not counted.uncounted and self.traced.is_never_called(self._inputs)
        except our_errors() as error:
            report_once("look for random ops that count inside their kernels", error)
            return False

    def as_captured(self, settings: Settings) -> RunResult:
        try:
            drawing = self.traced.counting(self._inputs) or self.traced.drawing_of_all(
                self._inputs, memory_budget(settings)
            )
        except our_errors() as error:  # whatever TensorFlow makes of a graph that we rewrote
            report_once("make a call with the random numbers of a recorded one", error)
            drawing = None
        if drawing is None:
            return self.plain()
        with INSIDE:
            outcome = drawing.perform(self._inputs, 0)
        if outcome.error is not None:
            raise outcome.error
        observed(self.traced.root.body.name, self._inputs, outcome.outputs)
        return list(outcome.outputs) or None

    def pending(self, controller: Controller) -> PendingCall:
        return PendingCall(self, controller)

    @property
    def inputs(self) -> Sequence[EagerTensor]:
        """The flat tensors that the function is given, those that it captured included."""
        return self._inputs

    @property
    def given(self) -> dict[str, EagerTensor]:
        """The tensors that the program gives the function, by the names of its arguments."""
        slots = zip(self.traced.slots, self._inputs, strict=False)
        return {slot.argument.name: tensor for slot, tensor in slots if not slot.argument.captured}

    @property
    def handed(self) -> HandedOver | None:
        """What the forward function handed over; None of a function that is no gradient."""
        forward = self.traced.forward
        if forward is None:
            return None
        slots = zip(self.traced.slots, self._inputs, strict=False)
        named = ((slot.argument.name, tensor) for slot, tensor in slots)
        tensors = {name: tensor for name, tensor in named if name in forward.handed}
        return HandedOver(forward.root.body.name, forward.scope, tensors)

    @property
    def arguments(self) -> list[EagerTensor]:
        """The same tensors, and those that a forward function handed to its gradient, in order."""
        slots = zip(self.traced.slots, self._inputs, strict=False)
        return [tensor for slot, tensor in slots if self.traced.is_argument(slot)]

    @property
    def traced(self) -> TracedFunction:
        """What is known about the function."""
        return traced_function(self._atomic)

    @property
    def looks_at(self) -> str:
        """The name of the trace: one that is made anew may have other variables."""
        name: bytes = self._atomic.name
        return name.decode()

    @property
    def name(self) -> str:
        """The name of the function in its runs."""
        return self.traced.name_in(self._entered and self._entered.function)

    def described(self, number: int, thread: str) -> Call:
        traced, ids = self.traced, ids_of(self.given)
        return Call(
            number,
            RunKind.FUNCTION,
            tuple(map(str, traced.results)),
            given_values(traced.slots, self._inputs),
            thread=thread,
            notes=tracing_notes(self._entered, self._atomic, caller_line()),
            function=self.name,
            arguments=given(traced.slots, self._inputs),
            looks_at=self.looks_at,
            came=batch_places(ids),
            behind=data_behind(ids),
            result_names=self._result_names(),
            for_gradient=traced.for_gradient,
        )

    def _result_names(self) -> tuple[str, ...]:
        """What the program calls each result; empty where none has a name."""
        handed = self.traced.for_gradient
        own = len(self.traced.results) - handed
        names = self.traced.result_names[:own] or ("",) * own
        if self._entered is not None and self._entered.function is not None:
            names = as_returned(names, self._entered.function)
        return (*names, *[""] * handed) if any(names) else ()

    def capture(self, controller: Controller, plan: Plan) -> Capture:
        if plan.action is Action.PROFILE:
            return FunctionProfile(self.plain, self.traced)
        try:
            return watch_capture(self, plan, controller.settings)
        except our_errors() as error:  # whatever TensorFlow makes of a graph that we rewrote
            report("take the values of a function", error)
            return WithoutValues(self.plain, f"Its values could not be taken: {reason_of(error)}")

    def uncaptured(self, call: Call, failure: RunError) -> Run:
        lacks = "This run was not captured: it has no values."
        traced = self.traced
        return Run(call, graph=traced.graph, tracebacks=traced.tracebacks, error=failure, notes=(lacks,), lacks=lacks)

    def with_inputs(self, run: Run) -> Run:
        """`run` with its variables as they were before it, and with the values that its failing op was given."""
        run = replace(with_variables_before(run, self.traced), variables=FunctionVariables(self.traced.slots))
        forward = self.traced.forward
        run = run if forward is None else replace(run, notes=(*run.notes, _BEFORE.format(forward.scope)))
        try:
            return with_given(run, self.traced.snapshot_plan, self._inputs)
        except our_errors() as error:
            report("compute what the failing op was given", error)
            return run


class PendingCall:
    """A function call about to happen, as the debugger sees it (`controller.PendingRun`)."""

    __slots__ = ("_call", "_controller")

    def __init__(self, call: FunctionCall, controller: Controller) -> None:
        self._call = call
        self._controller = controller

    def start(self, number: int) -> RunStart:
        traced = self._call.traced
        with COLLECTOR.put_off():
            return RunStart(
                self._call.described(number, threading.current_thread().name),
                traced.graph,
                traced.tracebacks,
                estimate=self.estimate(EVERYTHING),
                steppable=SteppableCall(traced.root, self._call.inputs),
                variables=FunctionVariables(traced.slots),
            )

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: Path | None = None) -> Estimate:
        with COLLECTOR.put_off():
            return self._call.traced.estimate(chooser(capture).admits, self._call.inputs, self._controller.settings)

    def arguments(self) -> tuple[object, object]:
        call = self._call.described(0, "")
        return call.fetches, call.feeds
