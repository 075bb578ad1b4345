"""What a call is to the pipeline: one that can be made as the program made it, or so that values are taken."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, runtime_checkable

from tfdbg_cli.capture.controller import Controller, PendingRun, Plan
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.runs import Run


class Capture(Protocol):
    """One way to make a run and to take values or times of it. Used once: `perform`, then `run`, then `finish`."""

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises."""
        ...

    def run(self, call: Call, error: RunError | None) -> Run:
        """The run with what was taken of it."""
        ...

    def finish(self, keep: bool) -> None:
        """Leave nothing behind, or what was asked to be kept."""
        ...


@runtime_checkable
class SelfChecking(Protocol):
    """A capture that answers the question of a watch while the run happens, so that nobody need look at the values.

    Where it found something, the run that it gives is marked `caught`. A run that neither passed nor is marked is
    looked at value by value. `run` gives the values also of a run that passed; it may make it again for that.
    """

    @property
    def passed(self) -> bool:
        """Whether the run was checked, all of it, and nothing was found."""
        ...

    @property
    def exactness(self) -> Exactness | None:
        """How exact the run was, as far as is known without its values; None where that is not asked."""
        ...


@runtime_checkable
class DrawsAlike(Protocol):
    """A call that can be made with the random ops of a captured one."""

    @property
    def draws_apart(self) -> bool:
        """Whether the call is to be made so though nothing of it is captured, since others are, or may be."""
        ...

    def as_captured(self, settings: Settings) -> RunResult:
        """Perform the call as the program made it, but draw as a recorded call does. Raises what the call raises."""
        ...


@runtime_checkable
class StopsWithin(Protocol):
    """A call whose ops run one by one, so that the program can be stopped in its middle."""

    def stopping(self, controller: Controller, plan: Plan) -> Capture:
        """The way to make the call, which `plan` leaves alone, and to stop at what `controller` seeks meanwhile."""
        ...


class SelfReporting(Protocol):
    """A capture that hands its run over itself, before the call has ended."""

    @property
    def reported(self) -> bool:
        """Whether it has done so."""
        ...


class Interceptable(Protocol):
    """A call that the program made, not yet performed."""

    @property
    def looks_at(self) -> Hashable:
        """The `Call.looks_at` of this call, known without describing the call."""
        ...

    def plain(self) -> RunResult:
        """Perform the call exactly as the program made it."""
        ...

    def pending(self, controller: Controller) -> PendingRun:
        """The run about to happen, as `controller` sees it."""
        ...

    def described(self, number: int, thread: str) -> Call:
        """The description of the call for the screen."""
        ...

    def capture(self, controller: Controller, plan: Plan) -> Capture:
        """The way to take what `plan` asks for. Nothing of the call has been performed when this raises."""
        ...

    def uncaptured(self, call: Call, failure: RunError) -> Run:
        """The run of a call that was left alone and failed."""
        ...

    def with_inputs(self, run: Run) -> Run:
        """`run`, which may have failed, with the values that its failing op was given."""
        ...
