"""The front end that fills the screen."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.config import Settings
from tfdbg_cli.document.plain import harmless
from tfdbg_cli.model.decision import (
    Abort,
    Continue,
    DebugRun,
    Decision,
    Detach,
    PlainRun,
    ProfileRun,
    RecordRun,
    RecordRuns,
    RunTo,
    RunUntil,
    StepOn,
)
from tfdbg_cli.model.pausing import STEPS
from tfdbg_cli.model.runs import Stop
from tfdbg_cli.tui.app import App
from tfdbg_cli.tui.reading.paint import shown
from tfdbg_cli.tui.terminal.terminal import Terminal


class TuiFrontend:
    """Shows stops on the controlling terminal, one at a time; other threads wait for their turn.

    `filters` is looked into at every stop, so filters may be added later. Settings that a person changes hold for
    the stops to come.
    """

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        filters: Mapping[str, TensorFilter],
        *,
        opening: Callable[[Stop], str] = opening_command,
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._filters = filters
        self._opening = opening
        self._history: History | None = None
        self._lock = threading.Lock()

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""
        return self._settings

    def stop(self, event: Stop) -> Decision:
        """Open the screen on `event` until there is a decision.

        When the terminal goes away meanwhile, the program runs on undebugged.

        Raises:
            TfdbgError: there is no terminal.

        """
        with self._lock:
            return self._stop(event)

    def notify(self, message: str) -> None:
        """Say one sentence on standard error."""
        if sys.stderr is not None:
            with suppress(OSError):  # standard error was the terminal that is gone
                print(f"tfdbg: {harmless(message)}", file=sys.stderr, flush=True)

    def _stop(self, event: Stop) -> Decision:
        if self._history is None:
            self._history = History.load(length=self._settings.history_length)
        terminal = Terminal(lambda: app.interrupt())
        app = App(
            event,
            self._registry,
            self._settings,
            self._filters,
            self._history,
            self._opening(event),
            housekeeping=terminal.spool.trim,
        )
        try:
            with terminal:
                decision = app.run(terminal.screen)
                terminal.last_words = last_words(app, decision)
        except OSError as error:
            self.notify(f"The terminal is gone ({error.strerror}); the program runs on without the debugger.")
            return Detach()
        self._settings = app.state.service.settings
        return decision


def last_words(app: App, decision: Decision) -> str:
    """One line for the scrollback: which run, which screen was left, what comes next."""
    service = app.state.service
    left = shown(app.state.page.command)
    if service.recording is not None:
        return f"tfdbg: closed {shown(service.recording)} at `{left}`."
    return f"tfdbg: {service.label}, left at `{left}`; {next_words(decision)}."


def next_words(decision: Decision) -> str:
    """What `decision` lets happen, in words."""
    match decision:
        case DebugRun(times=1):
            return "the next run is captured"
        case DebugRun(times=times):
            return f"the run after {times - 1} others is captured"
        case RunUntil(filter_name=name):
            return f"running until a tensor passes {name}"
        case RecordRun(path=path):
            return f"the next run is saved in {shown(path)}"
        case RecordRuns(path=path):
            return f"runs are recorded in {shown(path)}"
        case ProfileRun():
            return "the next run is profiled"
        case PlainRun():
            return "the next run is not captured"
        case StepOn(pace=pace):
            return f"a step to the next {STEPS[pace]}"
        case RunTo(place=place):
            return f"running to {shown(str(place))}"
        case Continue():
            return "running on; an error opens the debugger again"
        case Detach():
            return "running on without the debugger"
        case Abort():
            return "ending the program"
