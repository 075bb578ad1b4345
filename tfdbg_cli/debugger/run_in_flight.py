"""The run that is captured for the prompt to open behind it; meanwhile other runs are left alone."""

from __future__ import annotations

import threading

from tfdbg_cli.capture.controller import PendingRun
from tfdbg_cli.debugger.next_plan import State, runs_op_by_op
from tfdbg_cli.model.decision import DebugRun


class RunInFlight:
    """Which run that is, by its number, if there is one; true where there is.

    The program may be stopped in the middle of it. What is decided there takes the place of the stop behind it, but
    for `run`, which leads to that stop, or behind a run made as a whole that the same thread begins before.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._paused_in: int | None = None  # the thread that was stopped in the middle of it

    def __bool__(self) -> bool:
        return self._number is not None

    def begins(self, number: int) -> None:
        """Note that the run with that number is captured for a stop."""
        self._number, self._paused_in = number, None

    def ends(self, number: int) -> bool:
        """Note that the run with that number has ended; whether it is the one."""
        found = self._number == number
        if found:
            self._number = None
        return found

    def paused(self, number: int, decided: State) -> None:
        """Note what was `decided` where this thread was stopped in the middle of the run with that number."""
        if number != self._number:
            return
        self._paused_in = threading.get_ident()
        if not (isinstance(decided, DebugRun) and decided.times == 1):
            self._number = None

    def leaves_alone(self, pending: PendingRun) -> bool:
        """Whether a run that is about to begin is left alone for it; it gives way to one that is not."""
        if self._number is None:
            return False
        if self._paused_in != threading.get_ident() or runs_op_by_op(pending):
            return True
        self._number = None
        return False
