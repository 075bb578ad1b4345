"""The debugger of a whole process, and which runs of it are intercepted."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from tfdbg_cli.analysis.retracing.retracing import often_retraced
from tfdbg_cli.analysis.watch.filters import filter_named
from tfdbg_cli.api.attendance import attended, deserted, waits_for_the_end
from tfdbg_cli.api.fellows import fellows
from tfdbg_cli.api.frontends import choose_frontend, user_settings
from tfdbg_cli.api.launch_options import launch_options
from tfdbg_cli.api.live import follow, progress
from tfdbg_cli.api.screen_beside import load_beside
from tfdbg_cli.api.watches import seen_by_watches
from tfdbg_cli.api.wrapped_debuggers import wrapped_with_runs
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.calling.counted_draws import draws_to_tell_when_left_alone
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.intercept.all_sessions import intercept_all_sessions
from tfdbg_cli.capture.intercept.initializers import InitializersApart
from tfdbg_cli.capture.intercept.post_mortem import run_that_failed
from tfdbg_cli.capture.intercept.tracing_log import TRACES
from tfdbg_cli.capture.runs.eager.seen_ops import SeenOps
from tfdbg_cli.capture.runs.eager.watch import EagerWatch, watch_of
from tfdbg_cli.capture.tf.reentrancy import AT_WORK
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.debugger.recording_controller import OUTSIDE_RUNS, RecordingAttendant, RecordingController
from tfdbg_cli.debugger.rule_watch import RuleWatch
from tfdbg_cli.debugger.trend_keeper import TrendKeeper
from tfdbg_cli.document.summary import chip
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.beside import Observations
from tfdbg_cli.model.pausing import Breakpoint
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Value
from tfdbg_cli.process.once import Once
from tfdbg_cli.process.program_end import at_the_end, not_at_the_end
from tfdbg_cli.process.streams import to_stderr

_MOST_PLACES = 3  # that are named
_STOPS_AT_OPS = (
    "A program is paused behind ops of code that runs eagerly only, at a line that computes something."
    " A tf.function or a session is run as a whole: `run` captures that, and `invoke_stepper` goes through its ops."
)


class ProcessDebugger:
    """The debugger of the whole process, and the patches of TensorFlow that are in place while it is enabled."""

    def __init__(self) -> None:
        settings = user_settings()
        self.ui_type: str | None = None
        self.debugger = Debugger(
            lambda: choose_frontend(self.ui_type, filters=self.debugger.filters, settings=settings),
            settings=settings,
            attended=lambda: attended(self.ui_type),
            progress=progress(),
            fellows=fellows(),
            postpones=lambda: waits_for_the_end(self.ui_type),
        )
        self.controller = RecordingController(self.debugger, self.debugger.recorder)
        self.rules = RuleWatch(lambda: self.debugger.filters, self._stops_for_rules, _described)
        self.trends = TrendKeeper()
        if launch_options().trends:
            self.controller = RecordingController(self.controller, self.trends)
        if launch_options().rules is not None:
            self.controller = RecordingController(self.controller, self.rules)
        self.debugger.prompt.beside = lambda: Observations(self.rules.alerts, self.trends.series, self.trends.on)
        follow(self.debugger)
        self._lock = threading.RLock()  # again by a signal handler that enables or disables
        self._users = 0
        self._undo = ExitStack()

    @property
    def on(self) -> bool:
        """Whether every run of the process is intercepted: `enable` was called more often than `disable`."""
        return self._users > 0

    def enable(self) -> None:
        """Intercept every run of the process, and stop before the next one unless the command line says otherwise."""
        with AT_WORK, self._lock:
            if not self._users:
                self._intercept()
            self._users += 1
            if self._users > 1:
                return
        if (seat := launch_options().seat) is not None:  # without our lock: its own comes first elsewhere
            seat.register(self.debugger)

    def _intercept(self) -> None:
        """Begin what `_undo` ends; where something fails, end what has begun."""
        with ExitStack() as undo:
            watch = watch_of(self.controller)
            watch.seen = SeenOps()  # what was debugged before, such as another cell of a notebook, was told
            undo.callback(self._leave_eager, watch)
            at_the_end(watch.end)
            self.debugger.attendant = RecordingAttendant(watch, self.debugger, self._takes_runs)
            undo.callback(self.debugger.interruption.leave)
            self.debugger.interruption.stand_by()
            undo.callback(self.debugger.end_watch)
            self._begin()
            load_beside(self.ui_type)
            undo.callback(intercept_all_sessions(InitializersApart(self.controller)))
            undo.callback(intercept_all_functions(self.controller))
            self._undo = undo.pop_all()

    def _takes_runs(self) -> bool:
        return self.rules.on or self.trends.on

    def main_module_ends(self, *, failed: bool = False) -> None:
        """End the eager run of the main module; what was recorded until then is written when this returns.

        A run that failed shortly before is shown if the program `failed`, which may have caught it for its own words.
        """
        watch_of(self.controller).end()
        seat = launch_options().seat
        if failed and (seat is None or not seat.waits):
            with AT_WORK:
                self.debugger.program_fails_by_itself()
        # Threads and handlers that go on may end the process as nobody notices.
        with suppress(KeyboardInterrupt):
            self.debugger.recorder.settle()

    def program_ends(self) -> tuple[str, ...]:
        """End the last eager run, the recording and the rules; give the last words."""
        watch_of(self.controller).end()
        self.debugger.recorder.end()
        self.rules.end()
        return self.last_words()

    def last_words(self) -> tuple[str, ...]:
        """What rules and watches have seen, none if one has stopped.

        Where the program was to run to a place, or to a run so many from there, it says that it never came there. A
        function that was retraced often is told of beside what a watch has seen, and where there was a stop.
        """
        seen, never = self._not_done(watch_of(self.controller)), _never_came(self._waiting())
        return tuple(filter(None, (self.debugger.failure.forget(), self.rules.summary(), never, seen)))

    def _waiting(self) -> Sequence[Breakpoint]:
        """The breakpoints at which the program would still stop, and never has."""
        sought, never = self.debugger.sought, self.debugger.prompt.breakpoints.never_reached
        return () if sought is None else [one for one in sought.breakpoints if one in never]

    def _not_done(self, watch: EagerWatch) -> str:
        """What was asked for and did not come, or what the watches have seen; empty if there is nothing to say."""
        sought = self.debugger.sought
        if sought is not None and sought.place is not None:
            return f"The program never came to {sought.place}. {_STOPS_AT_OPS}"
        missing = self.debugger.awaited_run
        if missing > 1:  # who goes on with `run` behind the last run knows
            return f"The program ended {count_text(missing, 'run')} before the end of that which was to be captured."
        asked = not self.debugger.has_watched and not self.debugger.recorder.unattended  # a recording has said it
        if asked and watch.outside and not self.debugger.run_count:
            return OUTSIDE_RUNS.format(watch.outside)
        seen = self._never_watched() or seen_by_watches(self.debugger, watch.seen.by_watch, watch.stops.passed_over)
        again = often_retraced(TRACES.functions()) if self.debugger.has_debugged else ""
        return " ".join(filter(None, (seen, again)))

    def _never_watched(self) -> str:
        """That there is no filter of the name on the command line; empty where something was watched."""
        until = launch_options().until
        if until is None or not self.debugger.run_count or self.debugger.has_watched:
            return ""
        try:
            filter_named(self.debugger.filters, until.filter_name)
        except TfdbgError as error:
            return f"Nothing was watched: {error.message}"
        return ""

    def program_fails(self, error: Exception, thread: str = "") -> None:
        """Open the prompt on `error`, which is about to end the program, unless a stop has already shown it.

        It is that of a session which the program wrapped, where all runs were made by such. With the name of a
        `thread` it ends that alone; then the prompt opens if it came from a run, or through TensorFlow or Keras.
        """
        if self.on:
            watch = watch_of(self.controller)

            def make(number: int) -> Run | None:
                run = run_that_failed(error, number, watch, thread)
                return None if run is None else self.controller.broken_off(run)

            if self._only_takes():
                if launch_options().record is not None:
                    make(self.debugger.run_count)  # what the exception broke off is recorded
                return
            wrapped = () if self.debugger.run_count else wrapped_with_runs()
            debugger = wrapped[-1] if wrapped else self.debugger
            with AT_WORK:
                debugger.program_fails(make, thread=bool(thread))

    def _only_takes(self) -> bool:
        """Whether runs are judged or recorded alone, and nobody is there: the program's output is its own."""
        options, debugger = launch_options(), self.debugger
        if options.until is not None or options.script is not None:
            return False
        if options.record is None:
            return self.rules.on and not attended(self.ui_type)
        return debugger.recorder.unattended and not debugger.has_debugged and deserted(self.ui_type)

    def _begin(self) -> None:
        """Stop before the next run; or begin with the watch and the recording that the command line asked for."""
        self.debugger.stop_next()
        until, recorded, rules = launch_options().until, launch_options().record, launch_options().rules
        if launch_options().trends:
            self.trends.begin(launch_options().trends)
        if rules is not None:
            self.rules.begin(rules)
            self.debugger.set_watch(None)
        if recorded is not None:
            try:
                self.debugger.recorder.begin_with_first_run(recorded, launch_options().process)
            except TfdbgError as error:
                report("record the runs of this program", error)
            if until is None and launch_options().script is None:
                self.debugger.set_watch(None)
                self.debugger.recorder.unattended = True
        if until is not None:
            with suppress(TfdbgError):  # the program may add the filter later: the first run looks for it again
                self.debugger.set_watch(until, from_the_start=True)

    def _stops_for_rules(self, run: Run, why: tuple[str, ...]) -> bool:
        """Open the prompt on `run`, for which a rule fired, if somebody is there or commands are left."""
        script = launch_options().script
        if not attended(self.ui_type) and not (script is not None and script.left):
            return False
        self.debugger.show(run, why)
        return True

    def _leave_eager(self, watch: EagerWatch) -> None:
        self.debugger.attendant = None
        not_at_the_end(watch.end)
        watch.attend(False)

    def disable(self) -> None:
        """Undo one `enable`; undoing the last one ends the watch and removes all patches of TensorFlow."""
        with AT_WORK, self._lock:
            was_on, self._users = self._users > 0, max(0, self._users - 1)
            if self._users:
                return
            self.debugger.end_watch()
            self.debugger.interruption.leave()
            self._undo.close()
        if was_on:
            if sentence := draws_to_tell_when_left_alone():
                to_stderr(sentence)
            watch_of(self.controller).end()  # which may open the prompt: others may enable meanwhile


def _described(value: Value, dtype: str) -> str:
    return chip(value, dtype).text.strip()


def _never_came(breakpoints: Sequence[Breakpoint]) -> str:
    """A sentence on the breakpoints to which the program never came; empty where there are none."""
    if not breakpoints:
        return ""
    places = " and ".join(str(one.place) for one in breakpoints[:_MOST_PLACES])
    more = f" and {len(breakpoints) - _MOST_PLACES} more" if len(breakpoints) > _MOST_PLACES else ""
    return f"The program never came to {places}{more}, where it was to break. {_STOPS_AT_OPS}"


@Once
def process_debugger() -> ProcessDebugger:
    """The debugger of this process, made when it is first asked for."""
    return ProcessDebugger()
