"""A call whose values are recorded: it returns them itself, by a function that is proven to compute the same."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.analysis.layers.node_selection import NodeSelection
from tfdbg_cli.capture.budget import memory_budget, refusal
from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors
from tfdbg_cli.capture.functions.exact.proof import Proof
from tfdbg_cli.capture.runs.function.capture import PerformedCall
from tfdbg_cli.capture.runs.function.measured_function import MeasuredFunction, measured_function
from tfdbg_cli.capture.runs.function.replayed_capture import ReplayedCapture
from tfdbg_cli.capture.runs.function.trials import Trials
from tfdbg_cli.capture.runs.function.verdict import beside
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.process.interruptions import our_errors

GIVEN = (
    "This is the Python graph, as the program built it, in the order in which its values were made. "
    "A value that TensorFlow merges with its reader was computed a second time beside it."
)
_ALL = NodeSelection()


class GivenCapture(ReplayedCapture):
    """One call that returns every value itself. If it fails, or some value is missing, it is made again for them."""

    def __init__(self, call: PerformedCall, plan: Plan, room: int, function: MeasuredFunction) -> None:
        """Prepare the call, which `function` makes with all its values. What is held of it may take `room` bytes."""
        self._function = function
        self._values: KeptTensors | None = None
        super().__init__(call, plan, room)

    def _prepared(self) -> tuple[Proof | None, Trials]:
        return self._function.proof(self.call.inputs), self._function.trials

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        found = super().perform()
        assert self.outcome is not None
        try:
            self._values = self._function.all_values(self.call.inputs, self.outcome)
        except our_errors() as error:  # the run was made: what it gave is the program's
            report("take the values of a run", error)
        return found

    def run(self, call: Call, error: RunError | None) -> Run:
        """The call with what it gave; after an error with what was computed before the op that failed."""
        if error is not None or self._values is None or self.outcome is None:
            return super().run(call, error)
        self._made = self._values
        run = self.made(call, None, self._values, (GIVEN, *self.outcome.notes))
        exactness = beside(self._function.proof(self.call.inputs), self._function.trials, None)
        self._run = replace(run, graph=self.call.traced.watched_graph, exactness=exactness)
        return self._run


def given_capture(call: PerformedCall, plan: Plan, settings: Settings) -> GivenCapture | None:
    """The capture by which `call` returns its values; None where that cannot be done.

    That is so if some are computed in branches and loops, if the program might get other numbers, or if all values at
    once take more memory than tfdbg may use.
    """
    function = measured_function(call.traced, _ALL)
    if function.obstacle(call.inputs) or refusal(function.estimate(settings)) is not None:
        return None
    return GivenCapture(call, plan, memory_budget(settings), function)
