"""The front end that fills the screen."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.collection import COLLECTOR, collect_circles
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.commands.views.opening import opening_command
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.source import highlighted
from tfdbg_cli.model.decision import Abort, Decision, Detach, StepOn
from tfdbg_cli.model.runs import Stop
from tfdbg_cli.process.foreground import interrupt_others
from tfdbg_cli.process.streams import to_stderr
from tfdbg_cli.tui.app import App
from tfdbg_cli.tui.parting import last_words
from tfdbg_cli.tui.terminal.terminal import Terminal
from tfdbg_cli.tui.terminal.typed_ahead import TypedAhead

_FIRST_COMMANDS = (
    "run_info", "error_info", "origin", "list_tensors", "print_tensor", "node_info", "here", "preview",
)  # fmt: skip


def load_first_screen() -> None:
    """Load what is not loaded with this module, and is needed for the first screen of a stop of a live program."""
    registry = standard_registry()
    for name in _FIRST_COMMANDS:
        registry.find(name)
    for part in ("previewing", "tensor_walk"):
        import_module(f"tfdbg_cli.commands.service.{part}")
    highlighted(("pass",))  # makes the tables of the lexer


class TuiFrontend:
    """Shows stops on the controlling terminal, one at a time; other threads wait for their turn.

    `filters` is looked into at every stop, so filters may be added later. Settings that a user changes hold for
    the stops to come. `notes` are shown at the first one: what else was said stands behind the screen.
    """

    failures = 0  # whoever is at the screen saw what did not work
    broken = False

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        filters: Mapping[str, TensorFilter],
        *,
        opening: Callable[[Stop], str] = opening_command,
        notes: Sequence[str] = (),
    ) -> None:
        self._notes = notes
        self._registry = registry
        self._settings = settings
        self._filters = filters
        self._opening = opening
        self._history: History | None = None
        self._lock = threading.Lock()
        self._ahead = TypedAhead()

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
            decision = self._stop(event)
            if not isinstance(decision, StepOn):  # the next stop is an op away, and a search takes a part of a second
                collect_circles()  # a screen refers to itself, and holds what was looked at: a run with its values
            return decision

    def notify(self, message: str) -> None:
        """Say one sentence on standard error."""
        to_stderr(message)

    def _stop(self, event: Stop) -> Decision:
        if self._history is None:
            self._history = History.load(length=self._settings.history_length)
        terminal = Terminal(lambda: app.interrupt(), self._ahead)
        app = App(
            event,
            self._registry,
            self._settings,
            self._filters,
            self._history,
            self._opening(event),
            housekeeping=terminal.spool.trim,
            notes=self._notes,
        )
        self._notes = ()
        try:
            service = app.state.service
            with terminal, COLLECTOR.seldom(), service.following if service.followed else nullcontext():
                decision = app.run(terminal.screen)
                terminal.last_words = last_words(app.state.service, decision, sys.orig_argv)
        except OSError as error:
            self.notify(f"The terminal is gone ({error.strerror}); the program runs on without the debugger.")
            return Detach()
        self._settings = app.state.service.settings
        self._ahead.decided(decision)
        if isinstance(decision, Abort):
            interrupt_others()
        return decision
