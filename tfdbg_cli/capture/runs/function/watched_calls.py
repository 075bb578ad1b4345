"""A watched call of a function: checked inside TensorFlow, its values kept or, after a hit, made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tfdbg_cli.analysis.watch.filter import Bad
from tfdbg_cli.capture.budget import memory_budget, refusal
from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.failures import remark, report
from tfdbg_cli.capture.functions.calling.instrumented import CallResult
from tfdbg_cli.capture.functions.calling.kept_tensors import NO_TENSORS, array_of
from tfdbg_cli.capture.functions.exact.agreement import Agreement
from tfdbg_cli.capture.functions.exact.proof import Proof
from tfdbg_cli.capture.interceptable import Capture
from tfdbg_cli.capture.large_graphs import Preparation
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.runs.function.capture import (
    CapturedCall,
    PerformedCall,
    WithoutValues,
    held_before,
)
from tfdbg_cli.capture.runs.function.function_checks import FunctionChecks, watch_kind
from tfdbg_cli.capture.runs.function.given_capture import given_capture
from tfdbg_cli.capture.runs.function.kept_calls import KeptCall, KeptWatchedCall
from tfdbg_cli.capture.runs.function.measured_call import MeasuredCall
from tfdbg_cli.capture.runs.function.measured_function import measured_function
from tfdbg_cli.capture.runs.function.replayed_capture import ReplayedCapture, compared_again
from tfdbg_cli.capture.runs.function.verdict import beside, unchanged
from tfdbg_cli.capture.runs.watch_policy import (
    Course,
    is_hit,
    passes,
    policy,
    replayed_hit,
)
from tfdbg_cli.capture.state.after_failure import hold_unchanged, with_left_bad
from tfdbg_cli.capture.state.before_updates import with_before
from tfdbg_cli.capture.tf.op_errors import OpError, run_error
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import EagerTensor, RunResult
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.decision import Values
from tfdbg_cli.model.exactness import Exactness, named_partings
from tfdbg_cli.model.runs import Estimate, Run
from tfdbg_cli.model.statistics import any_nonfinite
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.process.interruptions import our_errors

_NOT_INSIDE = (
    "Whether a tensor passes {} could not be asked inside TensorFlow: too little is known of {} before the run. "
    "Every value was given back and asked, which costs more."
)
_ON_COPIES = (
    "Checks beside the ops of this function may change what TensorFlow makes of them, so a copy of each call is "
    "watched."
)
_UNCHECKED = "The run was not checked: {}"
_SET_RIGHT = (
    "The watched run itself gave something else, in {}; the program was given what the plain run from the same state "
    "gives."
)
_NOT_RIGHT = (
    "The watched run itself gave something else, in {}, and the program goes on with that: another thread of it was "
    "writing variables, which would have been lost."
)


class ReplayedWatchedCall(CapturedCall):
    """A watched call that gives the answer of its checks; its state is held so that it can be made again."""

    def __init__(
        self,
        call: PerformedCall,
        plan: Plan,
        room: int,
        watched: FunctionChecks,
        settings: Settings,
        notes: tuple[str, ...] = (),
    ) -> None:
        """Prepare the call. The snapshot may take `room` bytes; `settings` have the budget for the values of a hit.

        `notes` are shown at a hit, and say why it can have no values.
        """
        super().__init__(call, plan, room)
        self._watched = watched
        self._proof = self._checks()
        self._settings = settings
        self._notes = notes
        self._outputs: Sequence[EagerTensor] = ()
        self._agreement: Agreement | None = None  # between the replay and the program's call
        self._note = ""

    def _checks(self) -> Proof:
        """The function with the checks."""
        return self._watched.checked_only(self.call.inputs)

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        self.held = held_before(self.call, self.room, self._watched.read_early)
        try:
            outcome = self.performed(self._proof.instrumented)
        except OpError as error:
            if not self._failed_alone(error):
                raise
        else:
            self.observed()
            with INSIDE:
                self._outputs = self._tried(outcome)
        return list(self._outputs) or None

    def _failed_alone(self, error: OpError) -> bool:
        """Whether the call failed only because of our ops; its outputs are those of the plain call then."""
        with INSIDE:
            if self.held is not None and self.outcome is not None:
                self._watched.after(self.held, self.outcome)  # what it drew before it failed
                hold_unchanged(self.held, run_error(error).node)
            outputs = None if self.held is None else self._watched.trials.given_plainly(self.held, error)
        if outputs is None:
            return False
        self._outputs = outputs
        self.outcome = self._unanswered(outputs)
        return True

    def _unanswered(self, outputs: Sequence[EagerTensor], notes: tuple[str, ...] = ()) -> CallResult:
        """The outcome of a call that gave `outputs` while the checks failed: what bad numbers it was given count."""
        given = () if self.held is None else (*self.held.inputs, *self.held.drawn.values())
        with INSIDE:
            found = self._seeks_nonfinite and any(map(_is_spoiled, given))
        return CallResult(tuple(outputs), NO_TENSORS, notes, found=found, sure=found)

    @property
    def _seeks_nonfinite(self) -> bool:
        return self._watched.question.asked.finds is Bad.EITHER

    def _tried(self, outcome: CallResult) -> Sequence[EagerTensor]:
        """The outputs for the program: those of the plain call, if this call is tried and they differ."""
        trials = self._watched.trials
        if not trials.next_is_due() and not outcome.found:
            return outcome.outputs
        if self.held is None or trials.reason:
            return outcome.outputs
        self._watched.after(self.held, outcome)
        trial = trials.tried(self.held, outcome.outputs, found=bool(outcome.found))
        if trial is None:
            return outcome.outputs
        if trial.agreement.partings and outcome.found:
            told = _SET_RIGHT if trial.right else _NOT_RIGHT
            self._note = told.format(named_partings(trial.agreement.partings))
        return trial.outputs

    @property
    def passed(self) -> bool:
        """Whether nothing was found. Also so if the checks themselves failed, which was said on standard error."""
        return self.outcome is not None and self.outcome.found is False

    @property
    def exactness(self) -> Exactness:
        """What differs, or may differ, from undebugged runs under this watch."""
        return self._said_of(None)

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run, made again with all its values; without them when it cannot be."""
        assert self.outcome is not None
        self._take_in(self.outcome)
        if error is not None and self.held is not None:
            hold_unchanged(self.held, error.node)

        def shown(again: Replayed) -> Run:
            graph, tensors = self.call.traced.watched_graph, again.tensors
            if error is not None and self.held is not None:
                tensors = with_left_bad(tensors, self.held, graph)
            return replace(self.made(call, error, tensors, ()), graph=graph)

        again = self._again(self.outcome, shown)
        run = replace(
            shown(again),
            caught=is_hit(again.tensors, found=bool(self.outcome.found), sure=self.outcome.sure),
            lacks=again.lacks,
        )
        if self._watched.question.compares and len(again.tensors) and self.held is not None:
            variables = self.held.replay_spec().variables
            run = with_before(run, {item.name: item.value for item in variables})
        notes = (*self.outcome.notes, self._watched.told, *self._notes, *again.notes)
        exactness = None if error is not None else self._said_of(self._agreement)
        self._run = replace(run, notes=tuple(dict.fromkeys(notes)), exactness=exactness)
        return self._run

    def _take_in(self, outcome: CallResult) -> None:
        """Hold what the call drew and read."""
        if self.held is not None:
            self._watched.after(self.held, outcome)

    def _said_of(self, shown: Agreement | None) -> Exactness:
        return beside(self._proof, self._watched.trials, shown, self._note)

    def _again(self, outcome: CallResult, shown: Callable[[Replayed], Run]) -> Replayed:
        """The values of the call made again; `shown` makes a run of them."""
        question = self._watched.question

        def finds(again: Replayed) -> bool:
            # A run made again does not show the variables of loops before their update.
            return question.compares or passes(shown(again), question.asked)

        def needed() -> Estimate:
            return _estimate(self.call, self.plan, self._settings)

        return replayed_hit(self._replayed, finds, needed, sure=bool(outcome.found) and outcome.sure)

    def _replayed(self) -> Replayed:
        if self.held is None:
            raise TfdbgError("The state before it could not be held.")
        self.call.traced.announce(Preparation.VALUES)
        made = self.held.made_again(self.room)
        made, self._agreement = compared_again(self.held, made, self._outputs, self.room)
        return made.replayed


class CopiedWatchedCall(ReplayedWatchedCall):
    """A watched call that the program's own function makes; the checks run in a second call, on copies.

    If ops draw from outside (such as a batch), a rewritten function makes the call that also returns the draws.
    """

    _drawing: Proof | None = None

    def _checks(self) -> Proof:
        return self._watched.of_copies(self.call.inputs)

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        self.held = held_before(self.call, self.room)
        self.outcome = CallResult((), NO_TENSORS)  # stays if the call fails
        traced = self.call.traced
        self._drawing = traced.drawing(self.call.inputs) if traced.snapshot_plan.sources else None
        if self._drawing is None:
            given = self.call.plain()
            self._outputs = [] if given is None else list(given)
        else:
            self._outputs = self.drawn_by(self._drawing.instrumented)
            given = list(self._outputs) or None
        self.outcome = self._checked()
        if self.outcome.found is False and self._was_given_worse(self.outcome.outputs):
            self.outcome = replace(self.outcome, found=True, sure=True)
        return given

    def _was_given_worse(self, beside: Sequence[EagerTensor]) -> bool:
        """Whether the program was given NaN or infinities, which the watch looks for, and the copies gave none.

        `beside` are the results of the copies. With checks in them TensorFlow may compute a result in another order.
        """
        if not self._seeks_nonfinite:
            return False
        results = zip(self._outputs, beside, strict=False)
        with INSIDE:
            return any(_is_spoiled(given) and not _is_spoiled(other) for given, other in results)

    def _take_in(self, outcome: CallResult) -> None:
        """Nothing to take: variables were held before the call, and draws were taken in `perform`."""

    def _checked(self) -> CallResult:
        """What the checks found in the call on copies. If that failed nothing counts as found, and a note says so."""
        try:
            if self.held is None:
                raise TfdbgError("The state before it could not be held.")
            with INSIDE:
                checked = self._proof.instrumented.perform(self._watched.trials.inputs(self.held), self.room)
            if checked.error is None:
                return checked
            raise TfdbgError(f"The copy failed: {str(checked.error) or type(checked.error).__name__}")
        except TfdbgError as error:
            unchecked = _UNCHECKED.format(error)
            remark(f"{self.call.name}: {unchecked}")
        except our_errors() as error:  # the program's own call was made
            unchecked = _UNCHECKED.format(error)
            report("check a run on copies", error)
        return self._unanswered((), (unchecked,))

    def _said_of(self, shown: Agreement | None) -> Exactness:
        if self._drawing is not None:
            own = beside(self._drawing, self.call.traced.trials, shown, _ON_COPIES)
            if own.doubt or own.strays:
                return own
        return unchanged(shown, _ON_COPIES) if not self._watched.trials.strays else super()._said_of(shown)


def _is_spoiled(result: EagerTensor) -> bool:
    if not (result.dtype.is_floating or result.dtype.is_complex):
        return False
    value = array_of(result)
    return not isinstance(value, NoValue) and any_nonfinite(value)


def watch_capture(call: PerformedCall, plan: Plan, settings: Settings) -> Capture:
    """The way to make `call` for `plan`, in the memory that `settings` leave."""
    room = memory_budget(settings)
    if call.traced.draws_in_kernels:
        call.traced.plain(call.inputs)  # before the first call one sees that it is the first
    if plan.watched is None and plan.among_recorded and call.traced.drawing_of_all(call.inputs, room) is not None:
        refused = None if plan.statistics is None else refusal(_estimate(call, plan, settings))
        if refused is not None:
            return WithoutValues(lambda: call.as_captured(settings), refused)
        return _of_all_values(call, plan, room, Values.REPLAY, "")
    if plan.watched is None and plan.statistics is not None:
        measured = measured_function(call.traced, plan.statistics)
        obstacle = measured.obstacle(call.inputs)
        refused = refusal(_estimate(call, plan, settings) if obstacle else measured.estimate(settings))
        if refused is not None:
            return WithoutValues(call.plain, refused)
        if not obstacle:
            return MeasuredCall(call, measured, room)
        return _of_all_values(call, plan, room, plan.values, obstacle)
    if plan.watched is None:
        given = given_capture(call, plan, settings) if plan.recorded else None
        return given or _of_all_values(call, plan, room, plan.values, "")
    kind = watch_kind(plan, call.name, call.looks_at)
    if kind is None:
        return _of_all_values(call, plan, room, plan.watched.values, "")
    traced = call.traced
    watched = traced.plain_beside(call.inputs, lambda: traced.watched(kind).looked_into())
    if watched.frontier.unasked:
        note = _NOT_INSIDE.format(kind.question.name, watched.frontier.unasked[0])
        return _of_all_values(call, plan, room, plan.watched.values, note)
    reason = watched.snapshot_plan.obstacle(room)
    chosen = policy(plan.watched.values, reason, lambda: _estimate(call, plan, settings))
    if chosen.course is Course.KEEP:
        reason = "" if plan.watched.values is Values.KEEP else reason
        return KeptWatchedCall(call, plan, room, watched, reason, chosen.notes)
    watched.checked_only(call.inputs)
    way = CopiedWatchedCall if watched.on_copies else ReplayedWatchedCall
    return way(call, plan, room, watched, settings, chosen.notes)


def _of_all_values(call: PerformedCall, plan: Plan, room: int, values: Values, note: str) -> CapturedCall:
    """The capture of every value of a call: from its replay, unless `values` says else or it cannot be made again."""
    reason = "" if values is Values.KEEP else call.traced.replay_obstacle(room)
    if not reason and values is not Values.KEEP:
        return ReplayedCapture(call, plan, room, note)
    return KeptCall(call, plan, room, call.traced.instrumented_with_updated, note, reason)


def _estimate(call: PerformedCall, plan: Plan, settings: Settings) -> Estimate:
    return call.traced.estimate(chooser(plan.capture).admits, call.inputs, settings)
