"""Decides for each run whether to leave it alone, watch, capture or stop, by the decision of the last stop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named, require_filter
from tfdbg_cli.capture.controller import EVERYTHING, UNCOUNTED, Action, Attendant, PendingRun, Plan, WatchRequest
from tfdbg_cli.capture.dump_folders import dump_name
from tfdbg_cli.capture.runs.eager.section import is_find
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.debugger.ended_run import EndedRun
from tfdbg_cli.debugger.frontend import Frontend
from tfdbg_cli.debugger.held_failure import HeldFailure
from tfdbg_cli.debugger.interruption import Interruption, interrupt_main_thread
from tfdbg_cli.debugger.next_plan import State, next_plan, over_budget, runs_op_by_op, sought_by
from tfdbg_cli.debugger.progress_line import Progress, ProgressLine
from tfdbg_cli.debugger.prompt import Prompt
from tfdbg_cli.debugger.prompt_threads import PromptThreads
from tfdbg_cli.debugger.recorder import Recorder
from tfdbg_cli.debugger.run_in_flight import RunInFlight
from tfdbg_cli.debugger.run_saving import recorded_in_words
from tfdbg_cli.debugger.visit import Visit
from tfdbg_cli.debugger.watch_switch import Fellows, WatchSwitch
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.beside import Observations
from tfdbg_cli.model.decision import (
    Abort,
    Continue,
    DebugRun,
    Detach,
    RecordRun,
    RecordRuns,
    RunUntil,
    StepOn,
    StopAtStart,
)
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.pausing import Sought
from tfdbg_cli.model.runs import Run, RunEnd, RunStart


class Debugger:
    """The Controller of interactive debugging, for all sessions and threads that it is given to.

    Only one prompt is open in the process: a thread that has to stop meanwhile blocks. While a run is captured for a
    stop, runs of other threads are left alone, since the captured one may need them to end.
    """

    def __init__(
        self,
        frontend: Callable[[], Frontend],
        *,
        settings: Settings | None = None,
        thread_name_filter: str | None = None,
        filters: Mapping[str, TensorFilter] = BUILT_IN_FILTERS,
        dump_root: Path | None = None,
        attended: Callable[[], bool] = lambda: False,
        recorder: Recorder | None = None,
        progress: Progress | None = None,
        fellows: Fellows | None = None,
        postpones: Callable[[], bool] = lambda: False,
    ) -> None:
        """Make a debugger whose front end is made by `frontend` when the first stop comes.

        `thread_name_filter` is matched from the start of a thread's name; runs of other threads are left alone.
        Without one, only those of queue runners and of the runtime's own threads are. Dumps of runs that were stopped
        at are kept under `dump_root`, if given. `attended` says whether a user is there to whom Ctrl-C during a watch
        can open the prompt. Several debuggers may share a `recorder`. `progress` is told how watches go; without it,
        that is printed on standard error. `fellows` are the other workers of the job, if they are to stop where a
        watch of this one does. `postpones` says that a call which fails under a watch is shown only once its
        exception ends the program, of which `program_fails` tells.
        """
        self.filters: dict[str, TensorFilter] = dict(filters)
        self.prompt = Prompt(frontend, settings or Settings())
        self._threads = PromptThreads(thread_name_filter)
        self._numbers = itertools.count(1)
        self._count = 0
        self.attendant: Attendant | None = None
        self._decided: State = StopAtStart()
        self._in_flight = RunInFlight()
        self._after_recording: State = Continue()
        self.interruption = Interruption(attended)
        self._watch = WatchSwitch(self.prompt, self.interruption, progress or ProgressLine(), self._ask, fellows)
        self._dump_root = dump_root
        # Plain attributes, as they are read at each eager op.
        self.watched: WatchRequest | None = None  # what the watch that is on asks of runs
        self.sought: Sought | None = None
        self._visit = Visit()
        self.failure = HeldFailure(postpones)
        self.recorder = recorder or Recorder(lambda: self.settings)

    @property
    def settings(self) -> Settings:
        """The settings that hold now, `config set` at the prompt included."""
        return self.prompt.settings

    @property
    def _state(self) -> State:
        return self._decided

    @_state.setter
    def _state(self, state: State) -> None:
        self._decided = state
        self.sought = sought_by(state, self.prompt.breakpoints)
        if self.attendant is not None:
            looks_on = self.sought is not None or not isinstance(state, Continue | Detach)
            self.attendant.attend(looks_on or self._visit.asked)

    @property
    def run_count(self) -> int:
        """How many runs have begun, but for those of threads that only supply input."""
        return self._count

    @property
    def beside(self) -> Observations | None:
        """What is gathered of runs, for stops to show."""
        return self.prompt.beside()

    @property
    def awaited_run(self) -> int:
        """How many runs from here the one is that is to be captured (1: the next); 0 where none is waited for."""
        return self._state.times if isinstance(self._state, DebugRun) else 0

    @property
    def has_watched(self) -> bool:
        """Whether a watch has begun, be it over or not."""
        return self._watch.last is not None

    @property
    def has_debugged(self) -> bool:
        """Whether there was a watch, or a stop."""
        return self.has_watched or self.prompt.has_opened

    def count_run(self) -> int:
        """Count a run that begins now, and return its number."""
        self._count = number = next(self._numbers)
        return number

    def add_filter(self, name: str, tensor_filter: TensorFilter) -> None:
        """Make `tensor_filter(datum, tensor) -> bool` known as `name`; a filter of that name is replaced.

        Raises:
            ValueError: the name is empty.
            TypeError: the name is no text, or the filter cannot be called.

        """
        require_filter(name, tensor_filter)
        self.filters[name] = tensor_filter

    def configure(self, *, dump_root: Path | None, thread_name_filter: str | None) -> None:
        """Replace the arguments of `__init__` with these names."""
        self._dump_root = dump_root
        self._threads = PromptThreads(thread_name_filter)

    def stop_next(self) -> None:
        """Stop before the next run, whatever was decided before."""
        self.end_watch()
        self._state = StopAtStart()

    def call(self) -> None:
        """Stop before the next run, for somebody outside; any thread may ask. `Resume` goes on as before that."""
        self._visit.asked = True
        if self.attendant is not None:
            self.attendant.attend(True)

    def set_watch(self, decision: RunUntil | None, *, from_the_start: bool = False) -> None:
        """Go on with the watch `decision`; None goes on without stopping.

        `from_the_start` leaves Ctrl-C to the program until its first run, for a program that has not begun yet.

        Raises:
            TfdbgError: there is no such filter.

        """
        self.end_watch()
        if decision is None:
            self._state = Continue()
        else:
            tensor_filter = filter_named(self.filters, decision.filter_name)
            self._watch.begin(decision, tensor_filter, from_the_start=from_the_start)
            self._state = decision

    def end_watch(self) -> None:
        """Watch no more, and leave Ctrl-C to the program."""
        self._watch.end()

    @property
    def active_watch(self) -> ActiveWatch | None:
        """The watch that is on."""
        return self._watch.on

    def record(self, decision: RecordRun, then: State | None = None) -> None:
        """Save the next run as `decision` says, and go on as before, or as `then` says."""
        if not isinstance(self._state, RecordRun):
            self._after_recording = then or self._state
        self._state = decision

    def stop_recording(self) -> None:
        """Take `record` back, if the run has not begun that it is to save."""
        if isinstance(self._state, RecordRun) and not self._in_flight:
            self._state, self._after_recording = self._after_recording, Continue()

    def run_starts(self, pending: PendingRun) -> Plan:
        """What to do with a run; opens the prompt when it is time to. See `capture.controller.Controller`."""
        number = self.count_run() if self._threads.counts_this(found=is_find(pending)) else UNCOUNTED
        if self.failure:
            self.failure.another_begins(self.prompt.notify)
        if self.attendant is not None:
            self.attendant.run_begins(pending)
        kind = StopAtStart if self._visit.asked else type(self._state)
        if kind is Detach or not self._threads.include_this(found=is_find(pending)):
            return Plan(number)
        if kind is Continue:
            return Plan(number, errors=True)
        with self.prompt.lock:
            return self._decide(number, pending)

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Take in what a run gave; opens the prompt when it is time to. See `capture.controller.Controller`."""
        watching = self._watch.on if plan.watching else None
        hit = None if watching is None else self._watch.hit(watching, run)  # it takes its time: without the lock
        with self.prompt.lock:
            for_stop = self._is_over(plan)
            if not plan.errors or isinstance(self._state, Detach):
                return False
            if plan.watching and watching is not self._watch.on:
                # Another thread's stop ended the watch meanwhile. What this run did counts for the one begun there.
                watching = self._watch.asking(plan.watched)
                hit = None if watching is None else self._watch.hit(watching, run)
            if for_stop and isinstance(self._state, RecordRun):
                self._record(run, self._state)
                for_stop = False
            asked = self.interruption.by if watching is not None and self.interruption.asked else ""
            return self._stops_behind(EndedRun(run, watching, hit, for_stop, asked))

    def run_paused(self, run: Run) -> None:
        """Open the prompt in the middle of a run. See `capture.controller.Controller`."""
        self.show(run)
        self._in_flight.paused(run.call.number, self._state)

    def show(self, run: Run, notes: tuple[str, ...] = ()) -> None:
        """Open the prompt on `run`, with `notes` that say why."""
        with self.prompt.lock:
            self._stop(RunEnd(run, notes=notes))

    def run_passed(
        self, plan: Plan, make: Callable[[], Run], exactness: Exactness | None = None, looked_at: Hashable = None
    ) -> None:
        """Count a watched run in which nothing was found. See `capture.controller.Controller`."""
        self._watch.over(plan.number)
        watching = self._watch.asking(plan.watched)
        if watching is None:  # another thread's stop began another watch
            return
        watching.passed(plan.number, make, exactness, looked_at)
        if not watching.keeps and not self.interruption.asked:
            return
        with self.prompt.lock:
            if watching is not self._watch.on:
                return
            run = watching.made(make)
            if run is None:
                return  # a Ctrl-C opens the prompt before a run to come
            if self.interruption.asked and len(run.tensors):
                self._stop(watching.end(run, None, self.interruption.by))
            else:
                watching.keep(run)

    def run_abandoned(self, plan: Plan, make: Callable[[], Run] | None = None) -> None:
        """Called when the run of `plan` ends without a report: if it was for a stop, stop before the next run."""
        with self.prompt.lock:
            if self._is_over(plan):
                self._state = StopAtStart()

    def program_fails(self, make: Callable[[int], Run | None], *, thread: bool = False) -> None:
        """Open the prompt on what ends the program, or this `thread`: `make(number of the last run)`, unless None."""
        if isinstance(self._state, Detach) or not self._threads.include_this():
            return
        if (run := make(self._count)) is None and (thread or not self._count):
            return
        held = self.failure.end_of_thread(run) if thread else self.failure.end(run)
        if held is None and run is not None:
            end = RunEnd(run) if self._watch.on is None else self._watch.on.end(run, None)
            held = replace(end, notes=(*run.notes[:1], *end.notes))
        self._show(held)
        if not thread:
            self.end_watch()
            self._state = Detach()

    def program_fails_by_itself(self) -> None:
        """Open the prompt on a failed run that is held still, whose exception the program has caught."""
        self._show(self.failure.end(None))

    def _show(self, end: RunEnd | None) -> None:
        if end is not None:
            with self.prompt.lock, suppress(KeyboardInterrupt):  # the program ends as it would have
                self._stop(end)

    def _is_over(self, plan: Plan) -> bool:
        """Note that the run of `plan` has ended, and say whether it was captured for a stop."""
        self._watch.over(plan.number)
        return self._in_flight.ends(plan.number)

    def _stops_behind(self, ended: EndedRun) -> bool:
        """Open the prompt behind a run, if there is reason to, and say whether it was opened."""
        if ended.only_failed and ended.watching is not None and self.failure.takes(ended.watching, ended.run):
            return False
        if ended.stops:
            self._stop(ended.stop())
        elif ended.watching is not None and ended.run.error is None:
            ended.watching.keep(ended.run)
        return ended.stops

    def _decide(self, number: int, pending: PendingRun) -> Plan:
        if self._in_flight.leaves_alone(pending):
            return Plan(number, errors=True)
        if self._visit.asked:
            self._visit.begin(self._state, self.prompt.breakpoints)
            self.stop_next()
        watching = self._watch.on
        if watching is not None and self.interruption.asked:
            if watching.ends_without_values:
                self._state = StopAtStart((watching.interrupted_words(self.interruption.by),))
                self.end_watch()
            else:  # rather stop after this run: unlike now, there may then be values to show
                watching.ends_without_values = True
        if isinstance(self._state, StepOn) and not runs_op_by_op(pending):
            self._state = StopAtStart(("The step ends here: before a run that is made as a whole.",))
        start: RunStart | None = None
        while True:
            while isinstance(self._state, StopAtStart):
                start = start or self._start(number, pending)
                self._stop(replace(start, notes=(*start.notes, *self._state.notes)))
            plan, force = self._planned(number)
            watched = 0 if self._watch.on is None else self._watch.on.watch.runs
            refused = None if force or plan.action is not Action.CAPTURE else over_budget(plan, pending, watched)
            if refused is None:
                alone = not plan.watching or isinstance(self._state, RecordRun)
                if plan.action is not Action.LEAVE and alone:
                    self._in_flight.begins(number)
                return plan
            self._state = StopAtStart((refused,))

    def _record(self, run: Run, decision: RecordRun) -> None:
        """Save `run`, and go on as before."""
        self._state, self._after_recording = self._after_recording, Continue()
        run = replace(run, ignored=self.prompt.ignored.places)
        for sentence in recorded_in_words(run, decision, disk_budget=self.settings.disk_budget):
            self.prompt.notify(sentence)

    def _start(self, number: int, pending: PendingRun) -> RunStart:
        start = pending.start(number)
        if self._dump_root is None or start.estimate is None:
            return start
        # What counts is the disk that the dump is going to be on.
        return replace(start, estimate=pending.estimate(EVERYTHING, directory=self._dump(number)))

    def _planned(self, number: int) -> tuple[Plan, bool]:
        """The plan for a run by the current state, and whether it may exceed the budget; advances the state."""
        watched = self._watch.run_begins(number) if isinstance(self._state, RunUntil) else None
        found = next_plan(self._state, number, self._dump(number), watched)
        if found.then is not self._state:
            self._state = found.then
        return found.plan, found.force

    def _dump(self, number: int) -> Path | None:
        return None if self._dump_root is None else self._dump_root / dump_name(number - 1)

    def _stop(self, event: RunStart | RunEnd) -> None:
        """Open the prompt on `event` and take over the decision."""
        self.failure.forget()  # the program has come as far as this
        state, known = self._state, frozenset(self.prompt.breakpoints)
        if self._visit.asked:
            self._visit.begin(state, known)
        self.end_watch()
        outcome = self.prompt.open(event, self._watch.last)
        decision = self._visit.decided(outcome, state, known, self.prompt.breakpoints)
        if isinstance(decision, Abort):
            self._state = Detach()
            interrupt_main_thread()
            raise KeyboardInterrupt("the debugger was told to end the program")
        self._state = self.recorder.begun(decision, self.settings) if isinstance(decision, RecordRuns) else decision
        if isinstance(decision, RunUntil):
            earlier = (*event.earlier, event.run) if isinstance(event, RunEnd) and event.run.error is None else ()
            try:
                self._watch.begin(decision, filter_named(self.filters, decision.filter_name), earlier)
            except TfdbgError as error:  # no such filter: the decision may come from the command line
                self.prompt.notify(str(error))  # without a prompt, the note of the stop would not be seen
                self._state = StopAtStart((str(error),))

    def _ask(self, watched: WatchRequest | None) -> None:
        self.watched = watched
