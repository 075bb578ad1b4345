"""A run whose values are taken while it happens, shown with its variables as they were after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.watch.training_filters import UPDATED_VARIABLE
from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.pipeline import Capture
from tfdbg_cli.capture.sessions.call_state import Variable
from tfdbg_cli.capture.sessions.extended.call_checks import state_of
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.updated import updated_name, updated_tensor, with_updated
from tfdbg_cli.capture.state.run_snapshot import read
from tfdbg_cli.capture.stores import joined
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, TensorStore
from tfdbg_cli.model.values import Array


class ShownUpdates:
    """A capture of one run that also reads the variables which it wrote: an op need not give back what it writes."""

    def __init__(self, capture: Capture, invocation: Invocation, request: CaptureRequest) -> None:
        self._capture = capture
        self._invocation = invocation
        self._request = request
        self._after: Mapping[Variable, Array] = {}

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        result = self._capture.perform()
        try:
            self._after = read(self._invocation.session, asked_of(state_of(self._invocation).written, self._request))
        except OpError:  # one is written in a branch that was not taken, and nobody has initialized it
            self._after = {}
        except Exception as error:  # noqa: BLE001  # the run was made; what it gave is the program's
            report("read the variables after a run", error)
        return result

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was captured, and the variables."""
        run = self._capture.run(call, error)
        written = list(self._after)
        tensors = with_after(run.tensors, written, list(self._after.values()))
        return replace(run, tensors=tensors, graph=with_updated(run.graph, written)) if written else run

    def finish(self, keep: bool) -> None:
        """Leave nothing behind, or what was asked to be kept."""
        self._capture.finish(keep)


def asked_of(variables: Sequence[Variable], request: CaptureRequest) -> list[Variable]:
    """Those of `variables` whose values after the run `request` asks for."""
    admits = chooser(request).admits_named
    return [one for one in variables if admits(updated_name(one.name).node, UPDATED_VARIABLE, one.dtype.name)]


def with_after(tensors: TensorStore, written: Sequence[Variable], values: Sequence[Array]) -> TensorStore:
    """`tensors`, and behind them the `values` of the variables `written` after the run."""
    arrays = list(map(np.asarray, values))
    updated = [
        updated_tensor(variable.name, variable.op.device, array, variable.dtype.name)
        for variable, array in zip(written, arrays, strict=True)
    ]
    return joined(tensors, MemoryTensorStore(updated, arrays))
