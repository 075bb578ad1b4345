"""What `tfdbg listen` does with one run after another: goes past it, records it, or opens the prompt on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named
from tfdbg_cli.debug_server.arrivals import Arrival, Arrivals
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.debugger.frontend import Frontend
from tfdbg_cli.debugger.interruption import CTRL_C
from tfdbg_cli.debugger.progress_line import ProgressLine
from tfdbg_cli.debugger.recorder import Recorder
from tfdbg_cli.debugger.run_saving import recorded_in_words
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import (
    Abort,
    Continue,
    DebugRun,
    Decision,
    Detach,
    Outcome,
    PlainRun,
    ProfileRun,
    RecordRun,
    RecordRuns,
    RunTo,
    RunUntil,
    StepOn,
    StopAtStart,
)
from tfdbg_cli.model.ignored import Ignored
from tfdbg_cli.model.pausing import Breakpoints
from tfdbg_cli.model.runs import Hit, Run, RunEnd

_TURN = 0.5  # seconds between two looks at the clock
_NEXT = "The prompt opens at the next run. Ctrl-C again ends `tfdbg listen`."
_NO_TIMES = "A program sends no times here: this is the next run, with its values."
_NO_STEPS = "Nothing of a program elsewhere can be stepped through: this is its next run."
_AS_SENT = "What a program sends is what its own watch chose: the filters of `run` were left aside."
_ON = "Streams are answered from now on, and nothing is kept, so that the programs go on; Ctrl-C ends."


class Listening:
    """Takes the runs of `arrivals` until there is an end. `say` shows sentences beside the prompt.

    `first` is the decision that holds at the beginning; `attended` says that somebody is at a terminal, for whom
    Ctrl-C opens the prompt. With `idle` it ends when nothing came for so many seconds.
    """

    def __init__(
        self,
        arrivals: Arrivals,
        frontend: Frontend,
        recorder: Recorder,
        *,
        first: Decision | None = None,
        say: Callable[[str], None],
        attended: bool = False,
        idle: float | None = None,
        filters: Mapping[str, TensorFilter] = BUILT_IN_FILTERS,
    ) -> None:
        """Make one.

        Raises:
            TfdbgError: `first` is a watch for a filter that there is not.

        """
        self._arrivals = arrivals
        self._frontend = frontend
        self._recorder = recorder
        self._say = say
        self._attended = attended
        self._idle = idle
        self._filters = filters
        self._number = 0
        self._left = 0  # runs that are gone past before the next stop
        self._goes_on = False  # without a stop
        self._watch: ActiveWatch | None = None
        self._last: RunUntil | None = None
        self._saving: RecordRun | None = None
        self._asked = False  # by Ctrl-C
        self._notes: tuple[str, ...] = ()
        self._ignored = Ignored()
        if first is not None:
            self._decide(first, None)

    def serve(self) -> None:
        """Take runs until a decision, Ctrl-C or silence ends it."""
        quiet, heard = time.monotonic(), self._arrivals.heard
        while True:
            try:
                arrival = self._arrivals.next(_TURN)
                if self._arrivals.heard != heard or self._arrivals.open:
                    quiet, heard = time.monotonic(), self._arrivals.heard
                if arrival is not None:
                    if not self._taken(arrival):
                        return
                    quiet = time.monotonic()
                elif self._idle is not None and time.monotonic() - quiet >= self._idle:
                    return
            except KeyboardInterrupt:
                if not self._opens_later():
                    return

    def _opens_later(self) -> bool:
        """Have the prompt open at the next run, by Ctrl-C; False where it ends all."""
        waits = self._goes_on or self._left or self._watch is not None
        if not (self._attended and waits) or self._asked or self._arrivals.ignored:
            return False
        self._asked = True
        self._say(_NEXT)
        return True

    def _taken(self, arrival: Arrival) -> bool:
        """Do what is to be done with a run that came, and let its program go on; whether more are to come."""
        try:
            self._number += 1
            run = arrival.assembled.run(self._number)
            if self._recorder.wants("stream"):
                self._recorder.take(run)
            event = self._stop_at(run)
            if event is None:
                return True
            outcome = self._frontend.stop(event)
            if self._frontend.broken:
                raise BrokenPipeError
            return self._decide(outcome, run)
        finally:
            arrival.release()

    def _stop_at(self, run: Run) -> RunEnd | None:
        """The stop at `run`; None where it is gone past."""
        if self._saving is not None:
            saving, self._saving = self._saving, None
            for sentence in recorded_in_words(run, saving, disk_budget=self._frontend.settings.disk_budget):
                self._say(sentence)
        watch, hit = self._watch, None
        if watch is not None:
            watch.begins(run.call.number)
            hit = watch.sees(run)
            if hit is None and not self._asked:
                watch.keep(run)
                return None
            return self._ended(watch.end(run, hit, CTRL_C if self._asked else ""), hit)
        if not self._asked and (self._goes_on or self._left):
            self._left = max(self._left - 1, 0)
            return None
        return self._ended(RunEnd(run), None)

    def _ended(self, event: RunEnd, hit: Hit | None) -> RunEnd:
        notes, self._notes = self._notes, ()
        self._asked = self._goes_on = False
        self._left, self._watch = 0, None
        cut_off = event.run.notes[:1] if event.run.cut_off else ()
        return replace(
            event, hit=hit, notes=(*notes, *event.notes, *cut_off), ignored=self._ignored, breakpoints=Breakpoints(),
            watch=self._last, sent=True,
        )  # fmt: skip

    def _decide(self, decision: Outcome, run: Run | None) -> bool:
        """Go on as decided at the stop at `run`, if there was one; whether more runs are to come."""
        match decision:
            case Abort():
                return False
            case Detach():
                self._goes_on = True
                if not self._recorder.on:
                    self._arrivals.ignore()
                    self._say(_ON)
            case RunUntil():
                try:
                    tensor_filter = filter_named(self._filters, decision.filter_name)
                except TfdbgError as error:
                    if run is None:
                        raise
                    self._notes = (str(error),)
                    return True
                settings, line, earlier = self._frontend.settings, ProgressLine(), () if run is None else (run,)
                facts = decision, tensor_filter, settings, line, self._say, self._ignored, earlier
                self._watch, self._last = ActiveWatch(*facts), decision
            case DebugRun(times=times, capture=capture):
                self._left = times - 1
                self._notes = (_AS_SENT,) * capture.narrowed
            case PlainRun():
                self._left = 1
            case RecordRuns():
                then = self._recorder.begun(decision, self._frontend.settings)
                self._goes_on = isinstance(then, Continue)
                self._notes = then.notes if isinstance(then, StopAtStart) else ()
            case RecordRun():
                self._saving, self._goes_on = decision, True
            case ProfileRun():
                self._notes = (_NO_TIMES,)
            case StepOn() | RunTo():
                self._notes = (_NO_STEPS,)
            case _:
                self._goes_on = True
        return True
