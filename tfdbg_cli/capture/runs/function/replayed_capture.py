"""A call that the program's own function makes, unchanged; its replay on copies gives the values for the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.failures import report_bug
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors
from tfdbg_cli.capture.functions.exact.agreement import Agreement, CallOutcome, agreement
from tfdbg_cli.capture.functions.exact.proof import Proof
from tfdbg_cli.capture.large_graphs import Preparation
from tfdbg_cli.capture.replay.replayed import Replayed, not_again
from tfdbg_cli.capture.replay.until_failure import replay_until_failure
from tfdbg_cli.capture.runs.function.capture import VALUES, CapturedCall, PerformedCall, held_before
from tfdbg_cli.capture.runs.function.trials import Trials
from tfdbg_cli.capture.runs.function.verdict import beside, unchanged
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot, ReplayedCall
from tfdbg_cli.capture.tf.types import EagerTensor, RunResult
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.runs import Run
from tfdbg_cli.process.interruptions import our_errors

_FAILED_AGAIN = "Made again, the run failed with {}."


class ReplayedCapture(CapturedCall):
    """One call, whose values are those of its replay from the state before it.

    If ops draw from outside (such as a batch), a rewritten function makes the call that also returns the draws, else
    the program's own function.
    """

    def __init__(self, call: PerformedCall, plan: Plan, room: int, note: str = "") -> None:
        """Prepare the call; its values in loops and branches may take `room` bytes. `note` says why it is made so."""
        super().__init__(call, plan, room)
        self._note = note
        self._outputs: Sequence[EagerTensor] = ()
        self._made: KeptTensors | None = None
        self._proof, self._trials = self._prepared()

    def _prepared(self) -> tuple[Proof | None, Trials]:
        """The rewritten function that makes the call (None: the program's own), and its trials."""
        traced = self.call.traced
        traced.announce(Preparation.VALUES)
        traced.expect_screen()
        if traced.snapshot_plan.is_whole:
            traced.ask_plain(self.call.inputs)
        return traced.drawing(self.call.inputs) if traced.snapshot_plan.sources else None, traced.trials

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        self.held = held_before(self.call, self.room)
        if self._proof is None:
            found = self.call.plain()
            self._outputs = [] if found is None else list(found)
            return found
        self._outputs = self.drawn_by(self._proof.instrumented)
        return list(self._outputs) or None

    def run(self, call: Call, error: RunError | None) -> Run:
        """The call with the values of its replay; after an error those that do not need the op that failed."""
        if self.held is not None and self.outcome is not None:
            self.held.take_drawn(self.outcome)
        again, shown = self._again(error)
        notes = (*((VALUES,) if error is None else ()), *again.notes, *([self._note] if self._note else []))
        run = self.made(call, error, again.tensors, notes)
        exactness = None if error is not None else self._exactness(shown)
        self._run = replace(run, graph=self.call.traced.watched_graph, exactness=exactness)
        return self._run

    @property
    def taken(self) -> KeptTensors | None:
        return self._made

    def _exactness(self, shown: Agreement | None) -> Exactness:
        if self._proof is None:
            return unchanged(shown)
        return beside(self._proof, self._trials, shown)

    def _again(self, error: RunError | None) -> tuple[Replayed, Agreement | None]:
        try:
            if self.held is None:
                raise TfdbgError("The state before it could not be held.")
            if error is not None:
                return replay_until_failure(self.held.replay_spec(), self.room), None
            made = self.held.made_again(self.room)
            self._made = made.captured
            made, shown = compared_again(self.held, made, self._outputs, self.room)
        except our_errors() as failure:  # the run was made, and is worth showing without values, too
            report_bug("make a run again", failure)
            return not_again(failure), None
        failed = made.replayed.error
        notes = made.replayed.notes if failed is None else (_FAILED_AGAIN.format(failed.type_name),)
        return replace(made.replayed, notes=notes), shown


def compared_again(
    held: CallSnapshot, made: ReplayedCall, outputs: Sequence[EagerTensor], room: int
) -> tuple[ReplayedCall, Agreement]:
    """A replay of the program's call, and how it agrees with it: `made`, or if that differs, one that is nearer.

    `outputs` are those of the program's call. Its variables are compared if they are still as it left them.
    """
    root = held.plan.root
    did = CallOutcome(outputs, held.variables_now() if held.alone else {})
    found = agreement(root, did, effect_of(held, made))
    nearer = held.made_nearer(room) if found.partings and made.replayed.error is None else None
    return (made, found) if nearer is None else (nearer, agreement(root, did, effect_of(held, nearer)))


def effect_of(held: CallSnapshot, made: ReplayedCall) -> CallOutcome:
    """What a replay did, in the order in which the call gives its outputs."""
    outside = held.plan.outside
    returns = () if outside is None else outside.flat.returns
    return CallOutcome([made.outputs.get(name) for name in returns], made.variables)
