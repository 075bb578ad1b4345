"""The seam between capture and the debugger: what capture asks about every run, and what it is told to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

from tfdbg_cli.capture.session.watching import WatchOptions
from tfdbg_cli.config import Settings
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.runs import Estimate, Run, RunStart

EVERYTHING = CaptureRequest()


class Action(Enum):
    """What to do with one run."""

    LEAVE = auto()  # as if the debugger were not there
    CAPTURE = auto()  # with its tensors
    PROFILE = auto()  # with its times


@dataclass(frozen=True, slots=True)
class Plan:
    """How one run is to be made. `number` is the run's, 1-based.

    `errors` asks that an error of an op be reported by `run_ends`. `watching` says that many runs in a row are
    captured, so that a cheap way is worth more than a complete one. `directory` is the new folder in which the dump
    is made, and stays if `run_ends` says so; None for values that are only kept until then. `watch` names debug ops
    and tensors exactly.
    """

    number: int
    action: Action = Action.LEAVE
    errors: bool = False
    capture: CaptureRequest = EVERYTHING
    watching: bool = False
    directory: Path | None = None
    watch: WatchOptions | None = None


class PendingRun(Protocol):
    """A run that is about to happen. Nothing is built before it is asked for."""

    def start(self, number: int) -> RunStart:
        """The prompt before this run."""
        ...

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: Path | None = None) -> Estimate:
        """What capturing `capture` would take; a dump would be made in `directory`, or among the temporary files."""
        ...

    def arguments(self) -> tuple[object, object]:
        """The fetches and the feeds as the program gave them, for a `watch_fn`."""
        ...


class Controller(Protocol):
    """Decides about runs. Called from whichever thread makes the run, several at a time."""

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""
        ...

    def run_starts(self, pending: PendingRun) -> Plan:
        """What to do with a run. Cheap (a few microseconds) when it is left alone.

        Raises:
            KeyboardInterrupt: the person ended the program.

        """
        ...

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Take in a run that was captured or profiled, or that raised an error of an op.

        True when a dump in `plan.directory` is to be kept.

        Raises:
            KeyboardInterrupt: the person ended the program.

        """
        ...

    def run_abandoned(self, plan: Plan) -> None:
        """Hear that no `run_ends` will come for `plan`: the call was wrong, or capture failed."""
        ...
