"""A call of a function that gives all its values itself: as the user wishes, or since nothing else can be done."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.functions.calling.instrumented import Instrumented
from tfdbg_cli.capture.runs.function.capture import FunctionCapture, PerformedCall, held_before
from tfdbg_cli.capture.runs.function.function_checks import FunctionChecks
from tfdbg_cli.capture.runs.function.verdict import kept
from tfdbg_cli.capture.runs.watch_policy import is_hit
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.runs import Run


class KeptWatchedCall(FunctionCapture):
    """A watched call with every value, and the answer of the checks (`interceptable.SelfChecking`)."""

    def __init__(
        self,
        call: PerformedCall,
        plan: Plan,
        room: int,
        watched: FunctionChecks,
        reason: str = "",
        notes: tuple[str, ...] = (),
    ) -> None:
        """Prepare the call; `reason` says why it cannot be made again instead, and `notes` say so at a hit."""
        self._proof = watched.with_values(call.inputs)
        super().__init__(call, plan, room, self._proof.instrumented, reason)
        self._watched = watched
        self._notes = notes

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        trials = self._watched.kept_trials
        due = trials.next_is_due()
        held = self.held = held_before(self.call, self.room)
        with INSIDE:
            plain = trials.made_before(held) if due and held is not None else None
        outcome = self.performed(self.instrumented)
        self.observed()
        given = list(outcome.outputs) or None
        if held is None or not (outcome.found or due):
            return given
        with INSIDE:
            held.take_drawn(outcome)
            trial = trials.tried(held, outcome.outputs, found=bool(outcome.found), plain=plain)
        return given if trial is None else list(trial.outputs) or None

    @property
    def passed(self) -> bool:
        """Whether all tensors were checked, and nothing was found."""
        return self.outcome is not None and self.outcome.found is False

    @property
    def exactness(self) -> Exactness:
        return kept(self._proof, self._watched.kept_trials, self.reason)

    def run(self, call: Call, error: RunError | None) -> Run:
        run = super().run(call, error)
        outcome = self.outcome
        caught = outcome is not None and is_hit(run.tensors, found=bool(outcome.found), sure=outcome.sure)
        notes = (*run.notes, self._watched.told, *self._notes)
        self._run = replace(run, graph=self._watched.graph, notes=notes, caught=caught, exactness=self.exactness)
        return self._run


class KeptCall(FunctionCapture):
    """A call with every value, the variables after their update among them, taken while it happens."""

    def __init__(
        self,
        call: PerformedCall,
        plan: Plan,
        room: int,
        instrumented: Instrumented,
        note: str = "",
        reason: str = "",
    ) -> None:
        """Prepare the call; `note` says why its values are asked, `reason` why it cannot be made again instead."""
        super().__init__(call, plan, room, instrumented, reason)
        self._note = note

    def run(self, call: Call, error: RunError | None) -> Run:
        run = super().run(call, error)
        notes = (*run.notes, *([self._note] if self._note else []))
        self._run = replace(run, graph=self.call.traced.watched_graph, notes=notes)
        return self._run
