"""A call of a function in a program that also runs ops eagerly, while both are looked at."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.capture.controller import Controller, Plan
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.calling.instrumented import CallResult
from tfdbg_cli.capture.interceptable import Capture
from tfdbg_cli.capture.pipeline import performed
from tfdbg_cli.capture.runs.eager.log.insides import Insides
from tfdbg_cli.capture.runs.eager.vectorized_calls import under_way, vectorized_call
from tfdbg_cli.capture.runs.eager.watch import EagerWatch, watch_of
from tfdbg_cli.capture.runs.function.function_call import FunctionCall
from tfdbg_cli.capture.runs.function.tracing_notes import Entered
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_errors import OpError, run_error
from tfdbg_cli.capture.tf.reentrancy import AT_WORK, INSIDE
from tfdbg_cli.capture.tf.types import AtomicFunction, EagerTensor, Method, OpOutputs
from tfdbg_cli.model.runs import Run
from tfdbg_cli.process.interruptions import our_errors


class FunctionAmidEager(FunctionCall):
    """A call of a function whose run begins with the eager ops that made what it is given."""

    __slots__ = ("_plan", "_watch", "_watched")

    def __init__(
        self,
        atomic: AtomicFunction,
        inputs: Sequence[EagerTensor],
        call_flat: Method,
        entered: Entered | None,
        watch: EagerWatch,
        *,
        watched: bool,
    ) -> None:
        super().__init__(atomic, inputs, call_flat, entered)
        self._watch = watch
        self._watched = watched
        self._plan: Plan | None = None

    def capture(self, controller: Controller, plan: Plan) -> Capture:
        self._plan = plan
        return super().capture(controller, plan)

    @property
    def _shows_past(self) -> bool:
        """Whether a run begins with what ran before it: one of a watch, or one recorded whole."""
        plan = self._plan
        return self._watched or (plan is not None and plan.recorded and plan.statistics is None)

    def with_inputs(self, run: Run) -> Run:
        run = super().with_inputs(run)
        if not self._shows_past:
            return run
        try:
            # Of a run of many that nobody looks at now, no other function is called again.
            recorded = self._plan is not None and self._plan.recorded
            return self._watch.with_past(run, self.given, self.handed, insides=not recorded)
        except our_errors() as error:
            report("look at the eager code before a function", error)
            return run

    def told(self, outputs: OpOutputs) -> None:
        """Note what the function gave, so that eager ops that read it are known to."""
        if not self._shows_past:
            return
        try:
            written = [self.inputs[at] for at in self.traced.snapshot_plan.written]
            insides = Insides(self.traced, run=None if self._plan is None else self._plan.number)
            self._watch.function_gave(self.name, insides, self.arguments, outputs, written)
        except our_errors() as error:
            report("note what a function gave", error)


def performed_amid_eager(
    controller: Controller,
    atomic: AtomicFunction,
    inputs: Sequence[EagerTensor],
    call_flat: Method,
    entered: Entered | None,
) -> OpOutputs:
    """Perform a call of a graph function as `pipeline.performed` does, as part of the program around it."""
    watch = watch_of(controller)
    if not watch.listens or AT_WORK.holds():  # amid our work nothing is noted of the program around it
        return performed(controller, FunctionCall(atomic, inputs, call_flat, entered))
    watched = controller.watched is not None
    made = FunctionAmidEager(atomic, inputs, call_flat, entered, watch, watched=watched)
    outputs = performed(controller, made)
    made.told(outputs)
    return outputs


def performed_as_op(
    controller: Controller, atomic: AtomicFunction, inputs: Sequence[EagerTensor], call_flat: Method
) -> OpOutputs:
    """Perform a call of a function that `vectorizes` eager code: an op of that, with its insides."""
    call = None
    if watch_of(controller).listens and not AT_WORK.holds():
        try:
            call = vectorized_call(atomic, inputs)
        except our_errors() as error:  # then it is an op of which nobody sees the insides
            report("look into a function that vectorizes eager code", error)
    if call is None:
        return call_flat(atomic, *inputs)
    with under_way(call):
        return call_flat(atomic, *inputs)


def performed_within(
    watch: EagerWatch, atomic: AtomicFunction, inputs: Sequence[EagerTensor], call_flat: Method
) -> OpOutputs:
    """Perform a call of a graph function as part of the call that `watch` takes all values of, with its insides.

    Raises what the call raises.
    """
    if compat.is_initializer(atomic):
        return call_flat(atomic, *inputs)
    call = FunctionCall(atomic, inputs, call_flat, None)
    try:
        instrumented = call.traced.instrumented_with_updated
        written = [inputs[at] for at in call.traced.snapshot_plan.written]
    except our_errors() as error:  # the program gets what it asked for all the same
        report("take the values of a function", error)
        return call_flat(atomic, *inputs)
    with INSIDE:
        outcome = instrumented.perform(inputs, watch.room)
    try:
        watch.function_gave(
            call.name,
            _insides(call, outcome),
            call.arguments,
            list(outcome.outputs),
            written,
            outcome.captured.held_bytes,
        )
    except our_errors() as error:
        report("note what a function gave", error)
    if outcome.error is not None:
        raise outcome.error
    return list(outcome.outputs) or None


def _insides(call: FunctionCall, outcome: CallResult) -> Insides:
    """What is inside of the function that was called; after an error also what the failed op was given."""
    traced = call.traced
    if not isinstance(outcome.error, OpError):
        return Insides(traced, outcome.captured)
    failed = Run(call.described(0, ""), outcome.captured, traced.graph, error=run_error(outcome.error))
    failed = call.with_inputs(failed)
    return Insides(traced, failed.tensors, failed.error)
