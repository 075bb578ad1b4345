"""The controller that asks nobody: it has every run dumped, until the budget is used up."""

from __future__ import annotations

import itertools
import re
import sys
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeAlias

from tfdbg_cli.capture.budget import ROOM_BESIDE_GRAPHS, disk_budget, free_disk
from tfdbg_cli.capture.controller import EVERYTHING, Action, PendingRun, Plan, WatchRequest, WrongAnswerError
from tfdbg_cli.capture.debug_options import WatchOptions, watch_options
from tfdbg_cli.capture.dump_folders import dump_name, size_of
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.formats.recording.writing import size_text
from tfdbg_cli.model.pausing import Sought
from tfdbg_cli.model.runs import Run

# What it is given is the program's fetches and feeds; it answers WatchOptions, or as TensorFlow 1 did a tuple.
WatchFunction: TypeAlias = Callable[[Any, Any], object]


class DumpingController:
    """Dumps each run under `root`. Safe to use from several threads."""

    def __init__(
        self, root: Path, watch_fn: WatchFunction | None, thread_name_filter: str | None, settings: Settings
    ) -> None:
        """Make the folder `root`.

        Raises:
            TypeError: `watch_fn` cannot be called.
            OSError: the folder cannot be made.

        """
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError(f"watch_fn is not callable: a function of fetches and feeds is wanted, not {watch_fn!r}.")
        root.mkdir(parents=True, exist_ok=True)
        self.settings = settings
        self.watched: WatchRequest | None = None  # nothing is
        self.sought: Sought | None = None  # nor is anything sought in eager code
        self._root = root
        self._watch_fn = watch_fn
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._numbers = itertools.count(1)
        self._count = 0
        self._lock = threading.Lock()
        self._budget = disk_budget(settings, root)
        self._used = 0
        self._last = 0
        self._full = False
        self._uncounted: list[Path] = []  # dumps that are complete by the next run

    @property
    def run_count(self) -> int:
        """How many runs have begun."""
        return self._count

    def count_run(self) -> int:
        """The number of a run that begins now."""
        self._count = number = next(self._numbers)
        return number

    def run_starts(self, pending: PendingRun) -> Plan:
        """Have the run dumped if there is room. See `controller.Controller`.

        Raises:
            WrongAnswerError: `watch_fn` raised, or answered no WatchOptions.

        """
        number = self.count_run()
        if self._full or (self._threads and not self._threads.match(threading.current_thread().name)):
            return Plan(number)
        watch = self._watch(pending)
        if not self._has_room(pending, watch):
            return Plan(number)
        directory = self._root / dump_name(number - 1)
        return Plan(number, Action.CAPTURE, errors=True, directory=directory, watch=watch)

    def _watch(self, pending: PendingRun) -> WatchOptions | None:
        """What the `watch_fn` asks for; None without one."""
        if self._watch_fn is None:
            return None
        fetches, feeds = pending.arguments()
        try:
            return watch_options(self._watch_fn(fetches, feeds))
        except Exception as error:
            # The function is the program's own; without its dumps, a word on standard error could go unnoticed.
            raise WrongAnswerError(error) from error

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Every dump is kept. See `controller.Controller`."""
        with self._lock:
            self._uncounted += [plan.directory] if plan.directory else []
        return True

    def run_paused(self, run: Run) -> None:
        """Nothing is sought here. See `capture.controller.Controller`."""

    def run_passed(self, plan: Plan, make: Callable[[], Run], said: str = "", looked_at: Hashable = None) -> None:
        """Nothing is watched here. See `capture.controller.Controller`."""

    def run_abandoned(self, plan: Plan) -> None:
        """Nothing is waited for."""

    def _has_room(self, pending: PendingRun, watch: WatchOptions | None) -> bool:
        """Whether one more dump of the size of the last fits; says once that it does not."""
        with self._lock:
            while self._uncounted:
                self._last = size_of(self._uncounted.pop())
                self._used += self._last
        expected = self._last
        if not expected and watch is None:
            expected = pending.estimate(EVERYTHING).nbytes or 0
        with self._lock:
            obstacle = self._obstacle(expected)
            if obstacle and not self._full:
                self._full = True
                print(f"tfdbg: {obstacle}", file=sys.stderr)
        return not obstacle

    def _obstacle(self, expected: int) -> str:
        """Why a dump of `expected` bytes is not made, and what to do; empty when it can be."""
        free = free_disk(self._root)
        if free <= 2 * ROOM_BESIDE_GRAPHS:
            return (
                f"only {size_text(free)} are free in {self._root}; the program goes on without dumps. Make room, or "
                "dump somewhere else."
            )
        if self._used + expected <= self._budget:
            return ""
        return (
            f"the dumps in {self._root} take {size_text(self._used)} and the next one about {size_text(expected)}, "
            f"more than the {size_text(self._budget)} they may take; the program goes on without dumps. Dump less "
            "with a watch_fn, or raise the budget: set TFDBG_DISK_BUDGET."
        )
