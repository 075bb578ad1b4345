"""A run of a session whose values are taken while it happens; a snapshot before it, its variables read after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.interceptable import Capture
from tfdbg_cli.capture.runs.session.insides_again import InsidesAgain
from tfdbg_cli.capture.sessions.call_state import UsedVariable
from tfdbg_cli.capture.sessions.extended.call_checks import state_of
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.unordered import doubt_of_order
from tfdbg_cli.capture.sessions.updated_variables import updated_name, updated_outline, with_updated
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot, read
from tfdbg_cli.capture.stores import joined
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.capture.what_if.steppers import SteppableReplay
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.exactness import Exactness, ExecutionWay
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import Array
from tfdbg_cli.process.interruptions import our_errors

_IN_PLACE = (
    "The values were taken while the run happened, so its last digits may differ from those of a run left alone; it "
    "was done so since {why}."
)


class InPlace:
    """A capture that takes the values of one run while it happens, and says so.

    A snapshot is taken before, so that the run can be made again or undone. The variables that it wrote are read
    after it, to show whether this run spoiled them: an op that writes a variable need not output the value.
    """

    def __init__(
        self,
        capture: Capture,
        invocation: Invocation,
        why: str,
        updates: CaptureRequest | None,
        insides: InsidesAgain | None = None,
    ) -> None:
        """`capture` takes the values; `why` says why they are not those of the run made again.

        `updates` says which variables are shown as they were after the run; None: none. With `insides` the values of
        a hit are completed by those that cannot be fetched.
        """
        self._capture = capture
        self._invocation = invocation
        self._why = why
        self._updates = updates
        self._insides = insides
        self._held: RunSnapshot | None = None
        self._after: Mapping[UsedVariable, Array] = {}

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        try:
            self._held = RunSnapshot(self._invocation, state_of(self._invocation))
        except OpError:  # a variable that this run is going to initialize
            self._held = None
        except our_errors() as error:  # the run is captured all the same
            report("hold what a run can be made again from", error)
        result = self._capture.perform()
        try:
            if self._updates is not None:
                written = asked_of(state_of(self._invocation).written, self._updates)
                self._after = read(self._invocation.session, written)
        except OpError:  # one is written in a branch that was not taken, and nobody has initialized it
            self._after = {}
        except our_errors() as error:  # the run was made; what it gave is the program's
            report("read the variables after a run", error)
        return result

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was captured, and the variables."""
        order = state_of(self._invocation).unordered
        doubt = f"{_IN_PLACE.format(why=self._why)} {doubt_of_order(order)}".rstrip()
        exactness = Exactness(ExecutionWay.IN_PLACE, doubt=doubt, order=order)
        run = replace(self._capture.run(call, error), exactness=exactness)
        written = list(self._after)
        if written:
            tensors = with_after(run.tensors, written, list(self._after.values()))
            run = replace(run, tensors=tensors, graph=with_updated(run.graph, written))
        if self._held is None:
            return run
        self._held.drew_among(run.tensors)
        if self._insides is not None and len(run.tensors):
            run = self._insides.put_among(run, self._held)
        return replace(run, replayable=self._held, steppable=SteppableReplay(self._held))

    def finish(self, keep: bool) -> None:
        """Leave nothing behind, or what was asked to be kept."""
        self._capture.finish(keep)


def asked_of(variables: Sequence[UsedVariable], request: CaptureRequest) -> list[UsedVariable]:
    """Those of `variables` whose values after the run `request` asks for."""
    admits = chooser(request).admits_named
    return [one for one in variables if admits(updated_name(one.name).node, UPDATED_VARIABLE, one.dtype.name)]


def with_after(tensors: TensorStore, written: Sequence[UsedVariable], values: Sequence[Array]) -> TensorStore:
    """`tensors`, and behind them the `values` of the variables `written` after the run."""
    arrays = list(map(np.asarray, values))
    updated = [
        updated_outline(variable.name, variable.op.device, variable.dtype.name).holding(array)
        for variable, array in zip(written, arrays, strict=True)
    ]
    return joined(tensors, MemoryTensorStore(updated, arrays))
