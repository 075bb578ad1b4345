"""A controller that stands before another one, and hands on what it does not decide itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from tfdbg_cli.capture.controller import Controller, PendingRun, Plan, WatchRequest
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.pausing import Sought
from tfdbg_cli.model.runs import Run


class CountingController(Controller, Protocol):
    """A controller that can be told of a run without being asked about it."""

    def count_run(self) -> int:
        """The number of a run that begins now."""
        ...


class GoBetween:
    """Hands everything on to `controller`. See `capture.controller.Controller`."""

    def __init__(self, controller: CountingController) -> None:
        self._controller = controller

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""
        return self._controller.settings

    @property
    def watched(self) -> WatchRequest | None:
        """What the watch that is on asks of runs."""
        return self._controller.watched

    @property
    def sought(self) -> Sought | None:
        """What code that runs eagerly is to stop at."""
        return self._controller.sought

    def count_run(self) -> int:
        """The number of a run that begins now."""
        return self._controller.count_run()

    def run_starts(self, pending: PendingRun) -> Plan:
        """What to do with a run."""
        return self._controller.run_starts(pending)

    def run_paused(self, run: Run) -> None:
        """Open the prompt in the middle of a run."""
        self._controller.run_paused(run)

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Take in what a run gave."""
        return self._controller.run_ends(plan, run)

    def run_passed(
        self, plan: Plan, make: Callable[[], Run], exactness: Exactness | None = None, looked_at: Hashable = None
    ) -> None:
        """Note a watched run without a hit."""
        self._controller.run_passed(plan, make, exactness, looked_at)

    def run_abandoned(self, plan: Plan, make: Callable[[], Run] | None = None) -> None:
        """Note that no `run_ends` will come for `plan`."""
        self._controller.run_abandoned(plan, make)
