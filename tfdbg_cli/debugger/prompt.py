"""The prompt of a debugger: the front end, made when it is first needed, and what each stop is shown with."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from tfdbg_cli.analysis.origin.gone_past import fingerprint
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.intercept.tracing_log import TRACES
from tfdbg_cli.capture.own_draws import draws_to_tell
from tfdbg_cli.capture.tf.callers import live_frames
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.frontend import Frontend
from tfdbg_cli.debugger.prompt_threads import terminal
from tfdbg_cli.model.beside import Observations
from tfdbg_cli.model.decision import Detach, Outcome, RunUntil
from tfdbg_cli.model.gone_on_with import GoneOnWith
from tfdbg_cli.model.ignored import Ignored
from tfdbg_cli.model.pausing import Breakpoints
from tfdbg_cli.model.runs import RunEnd, RunStart
from tfdbg_cli.model.units import count_text
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.streams import to_stderr

_NO_MORE_FILES = (errno.EMFILE, errno.ENFILE)
_MORE_FILES = (
    "The program has opened as many files as it may, so tfdbg cannot open its own: let it close some, or raise the"
    " limit (`ulimit -n`)."
)


class Prompt:
    """Opens on one stop after another, with what is ignored and where to break, which users change there.

    `lock` is held by the thread that may open it: only one prompt is open in the process. What holds it is at work
    (`AT_WORK`), so that no run of the same thread asks for it meanwhile.
    """

    def __init__(self, make: Callable[[], Frontend], settings: Settings) -> None:
        """Make a prompt whose front end `make` makes at the first stop or message; until then `settings` hold."""
        self._make = make
        self._made: Frontend | None = None
        self._settings = settings
        self.lock = threading.Lock()
        self.ignored = Ignored()
        self.breakpoints = Breakpoints()
        self.gone_on_with = GoneOnWith()
        self.beside: Callable[[], Observations | None] = lambda: None  # what is gathered of runs, for stops to show
        self.surroundings: Callable[[], AbstractContextManager[object]] = nullcontext  # entered while it is open
        self.has_opened = False

    @property
    def settings(self) -> Settings:
        """The settings that hold now, `config set` at the prompt included."""
        return self._settings if self._made is None else self._made.settings

    def notify(self, message: str) -> None:
        """Show `message` beside the program's own output."""
        self._front().notify(message)

    def open(self, event: RunStart | RunEnd, last_watch: RunUntil | None) -> Outcome:
        """Open on `event`, as soon as no other thread is at one, until there is a decision.

        `last_watch` is offered again. `Detach` if the front end fails.
        """
        self.has_opened = True
        if isinstance(event, RunEnd) and event.run.paused is not None:
            self.breakpoints.reached(event.run.paused.why)
        frames = () if isinstance(event, RunEnd) and event.run.frames else event.frames or live_frames()
        event = replace(
            event, ignored=self.ignored, breakpoints=self.breakpoints, watch=last_watch, frames=frames,
            beside=self.beside(), traces=TRACES,
        )  # fmt: skip
        if isinstance(event, RunEnd):
            event = replace(event, gone_on_with=self.gone_on_with)
        if sentence := draws_to_tell():
            self.notify(sentence)
        try:
            with terminal(), self.surroundings():
                return self._decision(event)
        finally:
            if isinstance(event, RunEnd) and event.run.paused is not None:
                self.gone_on_with.note(event.run.call.number, event.run.paused, fingerprint)
            for frame in frames:
                frame.let_go()

    def _decision(self, event: RunStart | RunEnd) -> Outcome:
        try:
            return self._front().stop(event)
        except our_errors() as error:  # a fault of the screen must not end the program
            report("open the prompt", error)
            to_stderr(_unseen(event))
            if isinstance(error, OSError) and error.errno in _NO_MORE_FILES:
                to_stderr(_MORE_FILES)
            return Detach()

    def _front(self) -> Frontend:
        if self._made is None:
            self._made = self._make()
        return self._made


def _unseen(event: RunStart | RunEnd) -> str:
    """A sentence that says what the prompt on `event` was for."""
    if isinstance(event, RunStart):
        return f"The prompt was to open before {event.call.title}."
    run, hit = event.run, event.hit
    found = [] if hit is None else [f"passed {hit.filter_name} after {count_text(hit.runs, 'run')}"]
    if run.error is not None:
        found.append(f"failed with {run.error.type_name}")
    title = run.call.title if run.paused is None else f"{run.call.title}, at {run.paused.node},"
    what = f"to show that {title} {' and '.join(found)}" if found else f"to open on {title}"
    return f"The prompt was {what}." + (" The watch ends here." if hit is not None else "")
