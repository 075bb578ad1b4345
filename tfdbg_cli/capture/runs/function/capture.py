"""Capture of a function call: with its values, or with a sentence that says why there are none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol

from tfdbg_cli.analysis.graph.nodes.order import behind_inputs
from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.dump_folders import to_keep
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.calling.instrumented import CallResult, Instrumented
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors
from tfdbg_cli.capture.own_draws import note_draws, note_recorded_draws
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.runs.function.verdict import in_place
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.stores import asked_for
from tfdbg_cli.capture.tf.observers import observed
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import EagerTensor, RunResult
from tfdbg_cli.capture.what_if.function import FunctionWhatIf
from tfdbg_cli.capture.what_if.steppers import SteppableReplay
from tfdbg_cli.capture.what_if.whole_run import WholeWhatIf
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.decision import GraphChoice
from tfdbg_cli.model.runs import Run, WhatIf
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.process.interruptions import our_errors

VALUES = (
    "This is the Python graph, as the program built it, in the order in which its values were made. "
    "A value that TensorFlow may merge with its reader is computed when it is looked at."
)
_NO_RUNTIME_GRAPH = "The runtime graph, though asked for, is shown of sessions only."


class PerformedCall(Protocol):
    """What capture needs of a call of a graph function."""

    @property
    def inputs(self) -> Sequence[EagerTensor]:
        """The flat tensors that it is given."""
        ...

    @property
    def traced(self) -> TracedFunction:
        """What is known about the function."""
        ...

    @property
    def name(self) -> str:
        """The name of the function in its runs."""

    @property
    def looks_at(self) -> str:
        """The name of the trace, which no other function has."""
        ...

    def plain(self) -> RunResult:
        """Make the call as the program made it."""
        ...

    def as_captured(self, settings: Settings) -> RunResult:
        """Make the call as the program made it, but with the random ops of a recorded one (`DrawsAlike`)."""
        ...


class CapturedCall(ABC):
    """One call with its values in memory; subclasses take them in different ways."""

    def __init__(self, call: PerformedCall, plan: Plan, room: int) -> None:
        """Prepare the call. The values of loops and branches may take `room` bytes."""
        self.call = call
        self.plan = plan
        self.room = room
        self.held: CallSnapshot | None = None
        self.outcome: CallResult | None = None
        self._run: Run | None = None

    @abstractmethod
    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""

    def performed(self, instrumented: Instrumented) -> CallResult:
        """Make the call by `instrumented` and set `outcome`, also when it fails. Raises what the call raises."""
        if self.plan.watched is not None and instrumented.random_note:  # a captured call says so on its own screen
            note_draws(self.call.name)
        elif self.plan.recorded and instrumented.random_note:
            note_recorded_draws(self.call.name)
        with INSIDE:
            self.outcome = instrumented.perform(self.call.inputs, self.room)
        if self.outcome.error is not None:
            raise self.outcome.error
        return self.outcome

    def observed(self) -> None:
        """Show the program's op callbacks the call that was `performed`. Raises what they raise: that is theirs."""
        outputs = () if self.outcome is None else self.outcome.outputs
        observed(self.call.traced.root.body.name, self.call.inputs, outputs)

    def drawn_by(self, drawing: Instrumented) -> Sequence[EagerTensor]:
        """Make the call by `drawing`, which also gives what it draws; gives the outputs for the program.

        They are those of the plain call where this one is tried and they differ. Raises what the call raises.
        """
        drawn, trials = self.performed(drawing), self.call.traced.trials
        self.observed()
        if self.held is None:
            return drawn.outputs
        with INSIDE:
            self.held.take_drawn(drawn)
            trial = trials.tried(self.held, drawn.outputs, found=False) if trials.next_is_due() else None
        return drawn.outputs if trial is None else trial.outputs

    @abstractmethod
    def run(self, call: Call, error: RunError | None) -> Run:
        """The run with the values that were taken."""

    def made(self, call: Call, error: RunError | None, store: TensorStore, notes: tuple[str, ...]) -> Run:
        """The run with the values of `store`, as far as they are asked for."""
        traced = self.call.traced
        if self.plan.capture.graph is GraphChoice.RUNTIME:
            notes += (_NO_RUNTIME_GRAPH,)
        held = {name.node for name in traced.snapshot_plan.sources}
        return Run(
            call,
            behind_inputs(asked_for(store, self.plan.capture), traced.graph, held),
            traced.graph,
            tracebacks=traced.tracebacks,
            error=error,
            notes=notes,
            replayable=self.held,
            steppable=None if self.held is None else SteppableReplay(self.held),
            what_if=self._what_if if error is None else None,
        )

    @property
    def _what_if(self) -> WhatIf:
        return WholeWhatIf(FunctionWhatIf(self.call.traced.root, self.call.inputs, self.room))

    @property
    def taken(self) -> KeptTensors | None:
        """All the values of the call; None where they were not taken."""
        return None

    def finish(self, keep: bool) -> None:
        """Note the size of the values, for later estimates, and write them to disk if they are to be kept.

        Raises:
            TfdbgError: the disk is full, or the folder cannot be written to.

        """
        if self.taken is not None and not self.plan.capture.narrowed:
            self.call.traced.taken = self.taken.held_bytes
        if keep and self.plan.directory is not None and self._run is not None:
            write_dump(to_keep(self._run), self.plan.directory)


class FunctionCapture(CapturedCall):
    """One call that gives back every value itself. `reason` says why it is not made again for the screen instead."""

    def __init__(
        self,
        call: PerformedCall,
        plan: Plan,
        room: int,
        instrumented: Instrumented,
        reason: str = "",
    ) -> None:
        """Prepare the call, which `instrumented` makes. The values of loops and branches may take `room` bytes."""
        super().__init__(call, plan, room)
        self.instrumented = instrumented
        self.reason = reason

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        self.held = held_before(self.call, self.room)
        outcome = self.performed(self.instrumented)
        self.observed()
        return list(outcome.outputs) or None

    @property
    def taken(self) -> KeptTensors | None:
        return None if self.outcome is None or self._run is None else self.outcome.captured

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was taken; after an error, the values of branches and turns of loops that had ended."""
        assert self.outcome is not None
        if self.held is not None:
            self.held.take_drawn(self.outcome)
        notes = ((VALUES,) if error is None else ()) + self.outcome.notes
        exactness = in_place(self.reason, self.instrumented.random_note)
        self._run = replace(self.made(call, error, self.outcome.captured, notes), exactness=exactness)
        return self._run


def held_before(call: PerformedCall, room: int, covered: Collection[int] = ()) -> CallSnapshot | None:
    """The snapshot of `call`, which is about to be made; None where it could not be taken. See `CallSnapshot.of`."""
    try:
        return CallSnapshot.of(call.traced.snapshot_plan, call.inputs, covered, room)
    except our_errors() as error:
        report("hold what a run can be made again from", error)
        return None


class WithoutValues:
    """One call made as the program made it; `note` says why it has no values."""

    def __init__(self, plain: Callable[[], RunResult], note: str) -> None:
        self._plain = plain
        self._note = note

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        return self._plain()

    def run(self, call: Call, error: RunError | None) -> Run:
        """The call alone."""
        return Run(call, error=error, notes=(self._note,), lacks=self._note)

    def finish(self, keep: bool) -> None:
        """Nothing is left behind."""
