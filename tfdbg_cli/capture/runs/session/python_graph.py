"""Capture by extra fetches: every tensor that the call computes is fetched beside its own, into memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.runs.session.in_memory import InMemory
from tfdbg_cli.capture.sessions.call_state import UsedVariable
from tfdbg_cli.capture.sessions.extended.call_checks import state_of
from tfdbg_cli.capture.sessions.fetched_tensors import stored
from tfdbg_cli.capture.sessions.fusing import FUSED, is_by_product, is_refusal
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.program_graph import program_graph
from tfdbg_cli.capture.sessions.reach import Reach
from tfdbg_cli.capture.sessions.references import values_of_references
from tfdbg_cli.capture.state.run_snapshot import read
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.tracebacks import tracebacks_of
from tfdbg_cli.capture.tf.types import FetchedValue, RunResult, SymbolicTensor
from tfdbg_cli.capture.what_if.session import SessionWhatIf
from tfdbg_cli.capture.what_if.whole_run import WholeWhatIf
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import EMPTY_STORE, TensorStore
from tfdbg_cli.model.values import Array


class PythonCapture(InMemory):
    """One run whose tensors are held in memory, in topological order.

    A tensor that was read from a variable of the old kind (`use_resource=False`) shares its memory, and can show the
    value from after an update in the same run. The variable itself shows what it held before the run.
    """

    def __init__(self, invocation: Invocation, plan: Plan, reached: Reach, notes: tuple[str, ...]) -> None:
        super().__init__(invocation, plan)
        self._notes = notes
        self._tensors = list(filter(_test(plan), reached.tensors))
        self._opaque = reached.opaque
        self._fetched: Sequence[FetchedValue] | None = None
        self._references: Mapping[str, Array] = {}

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        held = [one for one in state_of(self.invocation).variables if one.reference]
        before = self._read(held)
        result = self._performed()
        if before:
            after = self._read([one for one in held if one.writers])
            self._references = values_of_references(self._tensors, before, after)
        return result

    def _read(self, variables: Sequence[UsedVariable]) -> dict[str, Array]:
        """What `variables` hold now, by name; nothing when one cannot be read."""
        try:
            return {one.name: value for one, value in read(self.invocation.session, variables).items()}
        except OpError:  # a variable that this run is going to initialize
            return {}

    def _performed(self) -> RunResult:
        try:
            result, self._fetched = self.invocation.with_extra(self._wanted)
        except OpError as error:
            if not is_refusal(error):
                raise
            self._tensors = [tensor for tensor in self._tensors if not is_by_product(tensor)]
            self._notes = (*self._notes, FUSED)
            result, self._fetched = self.invocation.with_extra(self._wanted)
        return result

    @property
    def _wanted(self) -> list[SymbolicTensor]:
        return [tensor for tensor in self._tensors if tensor.name not in self._opaque]

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was fetched; nothing when the call failed."""
        graph = self.invocation.session.graph
        self._run = Run(
            call=call,
            tensors=EMPTY_STORE if self._fetched is None else self._store(self._fetched),
            graph=program_graph(graph),
            tracebacks=tracebacks_of(graph),
            error=error,
            notes=self._notes,
            what_if=WholeWhatIf(SessionWhatIf(self.invocation)) if error is None else None,
        )
        return self._run

    def _store(self, fetched: Sequence[FetchedValue]) -> TensorStore:
        return stored(self._tensors, self._opaque, fetched, self._references)


def _test(plan: Plan) -> Callable[[SymbolicTensor], bool]:
    """Whether `plan` asks for a tensor."""
    watch = plan.watch_options
    if watch is None:
        return chooser(plan.capture).admits
    return lambda tensor: watch.admits(tensor.op.name, tensor.op.type, tensor.dtype.name)
