"""A call of a function of which statistics are recorded: TensorFlow computes them while it runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.checking_edit import Wanted
from tfdbg_cli.capture.functions.early_reports import Early
from tfdbg_cli.capture.functions.exact.proof import Apart, Proof, proven
from tfdbg_cli.capture.functions.instrumented import Instrumented, Outcome
from tfdbg_cli.capture.functions.measured import MeasurePlan
from tfdbg_cli.capture.functions.measured_tensors import Layout, MeasuredTensors
from tfdbg_cli.capture.functions.scopes import named_graphs_below
from tfdbg_cli.capture.functions.static_facts import StaticFacts
from tfdbg_cli.capture.runs.function.capture import PerformedCall, held_before
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.runs.function.trials import Trials
from tfdbg_cli.capture.runs.function.verdict import beside
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import EagerTensor, RunResult
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import EMPTY_STORE, summary_of

STATISTICS = (
    "Of this run TensorFlow computed statistics while it went on, and no values were kept. Numbers too small for "
    "full precision count as zeros, as its kernels take them."
)
_FAILED = "The run failed, and statistics are given back at its end."


class MeasuredFunction:
    """A function with the ops that compute statistics; kept for all its calls."""

    def __init__(self, traced: TracedFunction) -> None:
        self._traced = traced
        self.trials = Trials(traced.snapshot_plan, traced.atomic)
        self._proof: Proof | None = None
        self._layouts: dict[Instrumented, Layout] = {}

    def proof(self, inputs: Sequence[EagerTensor]) -> Proof:
        """The rewritten function, proven for `inputs` at its first call."""
        if self._proof is None:
            traced = self._traced
            facts = StaticFacts(traced.root, named_graphs_below(traced.atomic))
            sources = traced.snapshot_plan.sources
            own = Wanted(values=False, given=frozenset(sources), early=Early(sources))

            def make(apart: Apart) -> Instrumented:
                plan = MeasurePlan(traced.root, facts, apart)
                made = Instrumented(traced.root, traced.atomic, wanted=plan.wanted(own))
                self._layouts[made] = plan.layout
                return made

            self._proof = proven(traced.root, traced.plain(inputs), inputs, make)
            self._layouts = {self._proof.instrumented: self._layouts[self._proof.instrumented]}
        return self._proof

    def measurable(self, inputs: Sequence[EagerTensor]) -> bool:
        """Whether the program gets its own numbers when the ops stand beside its own."""
        return self.proof(inputs).holds and not self.trials.differs

    @property
    def layout(self) -> Layout:
        """What the statistics mean that the proven function gives."""
        assert self._proof is not None
        return self._layouts[self._proof.instrumented]


_MEASURED = Memo(MeasuredFunction)


def measured_function(traced: TracedFunction) -> MeasuredFunction:
    """`traced` with the ops that compute statistics, kept with it and gone with it."""
    return _MEASURED.of(traced)


class MeasuredCall:
    """One call with statistics in the place of values (`pipeline.Capture`)."""

    def __init__(self, call: PerformedCall, plan: Plan, room: int) -> None:
        """Prepare `call`. What is held of it for a trial may take `room` bytes."""
        self._call = call
        self._plan = plan
        self._room = room
        self._function = measured_function(call.traced)
        self._proof = self._function.proof(call.inputs)
        self._outcome: Outcome | None = None
        self._held: CallSnapshot | None = None
        self._store: MeasuredTensors | None = None

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        self._held = held_before(self._call, self._room)
        with INSIDE:
            outcome = self._outcome = self._proof.instrumented.perform(self._call.inputs, self._room)
        if outcome.error is not None:
            raise outcome.error
        if self._held is not None:
            self._held.take_drawn(outcome)
        layout, numbers = self._function.layout, np.empty(0) if outcome.measured is None else outcome.measured.numpy()
        self._store = MeasuredTensors(layout, numbers, self._counted)
        trials = self._function.trials
        if self._held is None or not trials.due():
            return list(outcome.outputs) or None
        with INSIDE:
            trial = trials.tried(self._held, outcome.outputs, found=self._store.spoiled)
        return list(outcome.outputs if trial is None else trial.outputs) or None

    def _counted(self, places: Sequence[int]) -> dict[int, Summary]:
        """The statistics of the tensors at `places`, which are not finite: of their values, made again."""
        try:
            if self._held is None:
                return {}
            again = self._held.made_again(self._room).replayed.tensors
        except Exception as error:  # noqa: BLE001  # the run was made, and is recorded without these
            if not isinstance(error, TfdbgError | OpError):
                report("make a run again", error)
            return {}
        found = {}
        for place in places:
            name = self._function.layout.tensors[place].shown.name
            rows = again.named(name.node, name.slot)
            summary = summary_of(again, rows[-1]) if rows else None
            if summary is not None:
                found[place] = summary
        return found

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run with its statistics."""
        traced = self._call.traced
        assert self._outcome is not None
        notes = (*self._outcome.notes, *((STATISTICS,) if error is None else ()))
        return Run(
            call,
            EMPTY_STORE if self._store is None else self._store,
            traced.watched_graph,
            tracebacks=traced.tracebacks,
            error=error,
            notes=notes,
            exactness=None if error is not None else beside(self._proof, self._function.trials, None),
            lacks=_FAILED if error is not None else "",
        )

    def finish(self, keep: bool) -> None:
        """Nothing is left behind."""
