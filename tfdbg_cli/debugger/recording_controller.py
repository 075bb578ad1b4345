"""A controller around another one, which captures the runs that are to be recorded, or judged by rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from tfdbg_cli.capture.budget import refusal
from tfdbg_cli.capture.controller import Action, Attendant, PendingRun, Plan
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.intercept.go_between import CountingController, GoBetween
from tfdbg_cli.capture.runs.eager.section import PendingSection, is_find
from tfdbg_cli.capture.runs.function.function_call import PendingCall
from tfdbg_cli.debugger.active_watch import SIGNALS
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.debugger.prompt_threads import PromptThreads
from tfdbg_cli.debugger.run_taker import RunTaker
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.runs import Run
from tfdbg_cli.process.interruptions import our_errors


class _Here(threading.local):
    """Of one thread: its last run, if that failed and was recorded without a stop."""

    failed: Run | None = None


class RecordingController(GoBetween):
    """Lets `controller` plan each run, and adds a capture where `taker` wants the run and the plan has none.

    Only runs of `threads` are taken. For "every n-th run", each of these controllers counts separately. See
    `capture.controller.Controller`.
    """

    def __init__(self, controller: CountingController, taker: RunTaker, threads: PromptThreads | None = None) -> None:
        super().__init__(controller)
        self._taker = taker
        self._threads = threads or PromptThreads()
        self._recorded: dict[int, Plan] = {}  # what `controller` planned for runs that are recorded, by number
        self._here = _Here()

    def run_starts(self, pending: PendingRun) -> Plan:
        """The plan of `controller`, extended by a capture if the run is to be recorded and there is room for it."""
        self._here.failed = None
        plan = super().run_starts(pending)
        if not self._taker.on or is_find(pending) or plan.action is Action.PROFILE:
            return plan
        if not self._threads.include_this():
            return plan
        among = replace(plan, among_recorded=True) if self._taker.takes_some else plan
        if not self._taker.wants((self, isinstance(pending, PendingSection))):
            return among
        if plan.action is Action.CAPTURE:
            self._recorded[plan.number] = plan
            return among
        statistics = self._taker.statistics
        captured = replace(among, action=Action.CAPTURE, errors=True, statistics=statistics, recorded=True)
        inside = statistics is not None and isinstance(pending, PendingCall)
        refused = None if inside else refusal(pending.estimate(captured.capture))
        if refused is not None:
            self._taker.missed(f"Run #{plan.number} is not recorded. {refused}")
            return among
        self._recorded[plan.number] = plan
        return captured

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Record a run, and pass it on to `controller` if that had planned it or the run failed."""
        own = self._recorded.pop(plan.number, None)
        unexpected = run.error is not None and run.error.type_name not in SIGNALS
        if own is not None or (unexpected and self._taker.on):
            self._taker.take(run)
        if unexpected and self._taker.unattended and (own or plan).action is Action.LEAVE:
            self._here.failed = run
            self._taker.failed(run)  # the program may catch it
            return False
        if own is None:
            return super().run_ends(plan, run)
        if own.action is Action.LEAVE and run.error is None:
            return False
        return super().run_ends(own, run)

    def broken_off(self, run: Run) -> Run:
        """Record `run`, whose exception ends the program, if it was to be and nobody has reported its end.

        Returns it; or the recorded run with the same error, as it has values.
        """
        if isinstance(self._controller, RecordingController):
            run = self._controller.broken_off(run)
        if self._recorded.pop(run.call.number, None) is not None:
            self._taker.take(run)
        failed, error = self._here.failed, run.error
        if failed is None or failed.error is None or error is None:
            return run
        if (failed.error.type_name, failed.error.message) != (error.type_name, error.message):
            return run
        return replace(failed, frames=run.frames, notes=(*run.notes[:1], *failed.notes))

    def run_passed(
        self, plan: Plan, make: Callable[[], Run], exactness: Exactness | None = None, looked_at: Hashable = None
    ) -> None:
        """Record a watched run in which nothing was found, and have it counted."""
        if self._recorded.pop(plan.number, None) is not None:
            try:
                run = make()
            except our_errors() as error:  # the watch goes on without
                report("record a watched run", error)
            else:
                self._taker.take(run)
                super().run_passed(plan, lambda: run, exactness, looked_at)
                return
        super().run_passed(plan, make, exactness, looked_at)

    def run_abandoned(self, plan: Plan, make: Callable[[], Run] | None = None) -> None:
        """Hear that the run of `plan` ends without a report; what is known of it is recorded."""
        own = self._recorded.pop(plan.number, None)
        if own is not None and make is not None:
            try:
                self._taker.take(make())
            except our_errors() as error:  # the program has an exception of its own
                report("record a run that was broken off", error)
        super().run_abandoned(own or plan)


OUTSIDE_RUNS = (
    "{:,} ops ran eagerly, in no run: turns of a loop are runs from the second on, where they compute with a variable"
    " or train. `with tfdbg_cli.run():` around what is to be one makes any code a run."
)


class RecordingAttendant:
    """Divides eager code into runs while the debugger wants that, or a recording or rules are on."""

    def __init__(self, attendant: Attendant, debugger: Debugger, judges: Callable[[], bool]) -> None:
        """Make one around `attendant`; `judges()` says whether rules judge runs, eager ones, too."""
        self._attendant = attendant
        self._judges = judges
        self._recorder = debugger.recorder
        self._wanted = False
        self._recorder.on_change = self._attend
        self._recorder.before_end = self.end

    def attend(self, wanted: bool) -> None:
        """Say whether the debugger wants eager code to be divided into runs; a recording may want it anyway."""
        self._wanted = wanted
        self._attend()

    @property
    def left_out(self) -> Sequence[str]:
        """See `controller.Attendant`."""
        return self._attendant.left_out

    @property
    def outside(self) -> int:
        """See `controller.Attendant`."""
        return self._attendant.outside

    def run_begins(self, pending: PendingRun) -> None:
        """Note that a run begins in this thread."""
        self._attendant.run_begins(pending)

    def end(self) -> None:
        """End the run of this thread that has no end of its own, and tell what of eager code was not recorded."""
        self._attendant.end()
        if self._recorder.on and self.left_out:
            self._recorder.missed(" ".join(self.left_out))
        elif self._recorder.on and self.outside and not self._recorder.taken:
            self._recorder.missed(OUTSIDE_RUNS.format(self.outside))

    def _attend(self) -> None:
        self._attendant.attend(self._wanted or self._recorder.on or self._judges())
