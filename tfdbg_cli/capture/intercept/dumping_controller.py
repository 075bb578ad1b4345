"""The controller that asks nobody: it has every run dumped, until the budget is used up."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from tfdbg_cli.capture.budget import ROOM_BESIDE_GRAPHS, disk_budget, free_disk
from tfdbg_cli.capture.controller import EVERYTHING, Action, PendingRun, Plan
from tfdbg_cli.capture.debug_options import WatchOptions
from tfdbg_cli.capture.dump_folders import disk_bytes, dump_name
from tfdbg_cli.capture.intercept.unattended import PassingController, WatchFunction
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import bytes_text
from tfdbg_cli.process.streams import to_stderr


class DumpingController(PassingController):
    """Dumps each run under `root`. Safe to use from several threads."""

    def __init__(
        self, root: Path, watch_fn: WatchFunction | None, thread_name_filter: str | None, settings: Settings
    ) -> None:
        """Make the folder `root`.

        Raises:
            TypeError: `watch_fn` cannot be called.
            OSError: the folder cannot be made.

        """
        super().__init__(watch_fn, settings)
        root.mkdir(parents=True, exist_ok=True)
        self._root = root
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._lock = threading.Lock()
        self._budget = disk_budget(settings, root)
        self._used = 0
        self._last = 0
        self._full = False
        self._uncounted: list[Path] = []  # dumps that are complete by the next run

    def run_starts(self, pending: PendingRun) -> Plan:
        """Have the run dumped if there is room. See `controller.Controller`.

        Raises:
            WrongAnswerError: `watch_fn` raised, or answered no WatchOptions.

        """
        number = self.count_run()
        if self._full or (self._threads and not self._threads.match(threading.current_thread().name)):
            return Plan(number)
        watch = self.asked(pending)
        if not self._has_room(pending, watch):
            return Plan(number)
        directory = self._root / dump_name(number - 1)
        return Plan(number, Action.CAPTURE, errors=True, directory=directory, watch_options=watch)

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Every dump is kept. See `controller.Controller`."""
        with self._lock:
            self._uncounted += [plan.directory] if plan.directory else []
        return True

    def _has_room(self, pending: PendingRun, watch: WatchOptions | None) -> bool:
        """Whether one more dump of the size of the last fits; says once that it does not."""
        with self._lock:
            while self._uncounted:
                self._last = disk_bytes(self._uncounted.pop())
                self._used += self._last
        expected = self._last
        if not expected and watch is None:
            expected = pending.estimate(EVERYTHING).nbytes or 0
        with self._lock:
            obstacle = self._obstacle(expected)
            if obstacle and not self._full:
                self._full = True
                to_stderr(obstacle)
        return not obstacle

    def _obstacle(self, expected: int) -> str:
        """Why a dump of `expected` bytes is not made, and what to do; empty when it can be."""
        free = free_disk(self._root)
        if free <= 2 * ROOM_BESIDE_GRAPHS:
            return (
                f"only {bytes_text(free)} are free in {self._root}; the program goes on without dumps. Make room, or "
                "dump somewhere else."
            )
        if self._used + expected <= self._budget:
            return ""
        return (
            f"the dumps in {self._root} take {bytes_text(self._used)} and the next one about {bytes_text(expected)}, "
            f"more than the {bytes_text(self._budget)} they may take; the program goes on without dumps. Dump less "
            "with a watch_fn, or raise the budget: set TFDBG_DISK_BUDGET."
        )
