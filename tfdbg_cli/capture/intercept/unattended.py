"""What controllers without a user have in common: they count runs, and a `watch_fn` of the program may choose."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

from tfdbg_cli.capture.controller import PendingRun, Plan, WatchRequest, WrongAnswerError
from tfdbg_cli.capture.debug_options import WatchOptions, watch_options
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.pausing import Sought
from tfdbg_cli.model.runs import Run

# Called with the program's fetches and feeds; returns WatchOptions, or a tuple as in TensorFlow 1.
WatchFunction: TypeAlias = Callable[[Any, Any], object]


class PassingController:
    """Plans to leave every run alone.

    `Plan.watch_options` has what `watch_fn` wants, for whoever captures the run after all. Safe to use from several
    threads. See `capture.controller.Controller`.
    """

    def __init__(
        self, watch_fn: WatchFunction | None, settings: Settings, asks_here: Callable[[], bool] = lambda: True
    ) -> None:
        """Ask `watch_fn` before each run which tensors are wanted; without one it is all of them.

        Of runs in threads in which `asks_here()` is false it is not asked: nobody captures them.

        Raises:
            TypeError: `watch_fn` cannot be called.

        """
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError(f"watch_fn is not callable: a function of fetches and feeds is wanted, not {watch_fn!r}.")
        self.settings = settings
        self.watched: WatchRequest | None = None  # no watch is ever on
        self.sought: Sought | None = None  # and eager code is never stopped
        self._watch_fn = watch_fn
        self._asks_here = asks_here
        self._numbers = itertools.count(1)
        self._count = 0

    @property
    def run_count(self) -> int:
        """How many runs have begun."""
        return self._count

    def count_run(self) -> int:
        """The number of a run that begins now."""
        self._count = number = next(self._numbers)
        return number

    def run_starts(self, pending: PendingRun) -> Plan:
        """Leave the run alone.

        Raises:
            WrongAnswerError: `watch_fn` raised, or answered no WatchOptions.

        """
        number = self.count_run()
        return Plan(number, watch_options=self.asked(pending) if self._asks_here() else None)

    def asked(self, pending: PendingRun) -> WatchOptions | None:
        """What the `watch_fn` asks for; None without one.

        Raises:
            WrongAnswerError: it raised, or answered no WatchOptions.

        """
        if self._watch_fn is None:
            return None
        fetches, feeds = pending.arguments()
        try:
            return watch_options(self._watch_fn(fetches, feeds))
        except Exception as error:
            # A mistake in the program: with a mere message on standard error the missing dumps could go unnoticed.
            raise WrongAnswerError(error) from error

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Nothing is to be kept."""
        return False

    def run_paused(self, run: Run) -> None:
        """Nothing is sought here."""

    def run_passed(
        self, plan: Plan, make: Callable[[], Run], exactness: Exactness | None = None, looked_at: Hashable = None
    ) -> None:
        """Nothing is watched here."""

    def run_abandoned(self, plan: Plan, make: Callable[[], Run] | None = None) -> None:
        """Nothing is waited for."""
