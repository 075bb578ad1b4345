"""A run of a session whose values are taken while it happens, with a snapshot from before it."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.pipeline import Capture
from tfdbg_cli.capture.sessions.extended.call_checks import state_of
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.capture.what_if.steppers import SteppableReplay
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.exactness import Exactness, Way
from tfdbg_cli.model.runs import Run

_IN_PLACE = (
    "The values were taken while the run happened, so its last digits may differ from those of a run left alone; it "
    "was done so since {why}."
)


class SnapshotCapture:
    """A capture of one run that takes the values while it happens, and says so.

    The snapshot before it is there so that the run can be made again or undone.
    """

    def __init__(self, capture: Capture, invocation: Invocation, why: str) -> None:
        """`capture` takes the values; `why` says why they are not those of the run made again."""
        self._capture = capture
        self._invocation = invocation
        self._why = why
        self._held: RunSnapshot | None = None

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        try:
            self._held = RunSnapshot(self._invocation, state_of(self._invocation))
        except OpError:  # a variable that this run is going to initialize
            self._held = None
        except Exception as error:  # noqa: BLE001  # the run is captured all the same
            report("hold what a run can be made again from", error)
        return self._capture.perform()

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was captured."""
        exactness = Exactness(Way.IN_PLACE, doubt=_IN_PLACE.format(why=self._why))
        run = replace(self._capture.run(call, error), exactness=exactness)
        if self._held is None:
            return run
        self._held.drew_among(run.tensors)
        return replace(run, replayable=self._held, steppable=SteppableReplay(self._held))

    def finish(self, keep: bool) -> None:
        """Leave nothing behind, or what was asked to be kept."""
        self._capture.finish(keep)
