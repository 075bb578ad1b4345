"""A call of a function of which statistics are recorded: TensorFlow computes them while it runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.capture.failures import report, report_bug
from tfdbg_cli.capture.functions.calling.instrumented import CallResult
from tfdbg_cli.capture.functions.measuring.measured_tensors import MeasuredTensors
from tfdbg_cli.capture.runs.function.capture import PerformedCall, held_before
from tfdbg_cli.capture.runs.function.measured_function import MeasuredFunction
from tfdbg_cli.capture.runs.function.verdict import beside
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.tf.observers import observed
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import EMPTY_STORE, summary_of
from tfdbg_cli.process.interruptions import our_errors

STATISTICS = (
    "Of this run TensorFlow computed statistics while it went on, and {}. Numbers too small for full precision count "
    "as zeros, as its kernels take them."
)
_NO_VALUES = "no values were kept"
_ONE_VALUE = "the value of 1 tensor was kept"
_VALUES = "the values of {:,} tensors were kept"
_NOT_TAKEN = "The statistics of this run could not be taken."
_FAILED = "The run failed, and statistics are given back at its end."


class MeasuredCall:
    """One call with statistics in the place of values, or of most (`interceptable.Capture`)."""

    def __init__(self, call: PerformedCall, function: MeasuredFunction, room: int) -> None:
        """Prepare `call`, made by `function`. What is held of it for a trial may take `room` bytes."""
        self._call = call
        self._room = room
        self._function = function
        self._proof = self._function.proof(call.inputs)
        self._outcome: CallResult | None = None
        self._held: CallSnapshot | None = None
        self._store: MeasuredTensors | None = None

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        self._held = held_before(self._call, self._room)
        with INSIDE:
            outcome = self._outcome = self._proof.instrumented.perform(self._call.inputs, self._room)
        if outcome.error is not None:
            raise outcome.error
        observed(self._call.traced.root.body.name, self._call.inputs, outcome.outputs)
        if self._held is not None:
            self._held.take_drawn(outcome)
        try:
            self._store = self._told(outcome)
        except our_errors() as error:  # the run was made: what it gave is the program's
            report("take the statistics of a run", error)
        trials = self._function.trials
        if self._held is None or self._store is None or not trials.next_is_due():
            return list(outcome.outputs) or None
        with INSIDE:
            trial = trials.tried(self._held, outcome.outputs, found=self._store.spoiled)
        return list(outcome.outputs if trial is None else trial.outputs) or None

    def _told(self, outcome: CallResult) -> MeasuredTensors:
        """The statistics, and the selected values, that the call returned."""
        numbers = np.empty(0) if outcome.measured is None else outcome.measured.numpy()
        values = self._function.values(self._call.inputs, outcome)
        return MeasuredTensors(self._function.layout, numbers, self._counted, values)

    def _counted(self, places: Sequence[int]) -> dict[int, Summary]:
        """Statistics of the tensors at `places` from their values, made again: their sums do not tell enough.

        Such tensors hold NaN, infinities or numbers whose squares overflow, or have too many elements for float32.
        """
        try:
            if self._held is None:
                return {}
            again = self._held.made_again(self._room).replayed.tensors
        except our_errors() as error:  # the run was made, and is recorded without these
            report_bug("make a run again", error)
            return {}
        found = {}
        for place in places:
            name = self._function.layout.tensors[place].shown.name
            rows = again.named(name.node, name.slot)
            summary = summary_of(again, rows[-1]) if rows else None
            if summary is not None:
                found[place] = summary
        return found

    @property
    def _kept(self) -> str:
        """Which values were kept, in words."""
        count = len(self._function.layout.given)
        return {0: _NO_VALUES, 1: _ONE_VALUE}.get(count) or _VALUES.format(count)

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run with its statistics."""
        traced = self._call.traced
        assert self._outcome is not None
        told = self._store is not None
        notes = (*self._outcome.notes, *((STATISTICS.format(self._kept),) if told else ()))
        return Run(
            call,
            EMPTY_STORE if self._store is None else self._store,
            traced.watched_graph,
            tracebacks=traced.tracebacks,
            error=error,
            notes=notes,
            exactness=None if error is not None else beside(self._proof, self._function.trials, None),
            lacks=_FAILED if error is not None else "" if told else _NOT_TAKEN,
            gaps=self._function.gaps if told else "",
        )

    def finish(self, keep: bool) -> None:
        """Nothing is left behind."""
