"""The line front end: the whole debugger without a screen, for pipes, scripts, notebooks and plain terminals."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.ansi import wants_color
from tfdbg_cli.line.conversation import Conversation
from tfdbg_cli.line.input import Input, choose_input
from tfdbg_cli.line.output import LineOutput, TextOutput
from tfdbg_cli.line.script import Script
from tfdbg_cli.model.decision import Decision, Detach, StepOn
from tfdbg_cli.model.runs import Opened, RunEnd, RunStart, Stop
from tfdbg_cli.process.streams import is_closed, to_stderr
from tfdbg_cli.terminal_facts import columns, is_tty, terminal_facts

if TYPE_CHECKING:
    from tfdbg_cli.line.json_output import JsonOutput

_MOST_PAGES = 50  # that `prev` can go back to: a script that prints many arrays must not hold them all


class LineFrontend:
    """Shows stops as lines of text, or with `json` as one JSON object for each command.

    Commands come from `source` or `script`, if given, else from a user at the terminal or in a notebook, else from
    standard input.
    When no more come, the program goes on without the debugger. `check`, given the settings before a change and after
    it, refuses what another front end could not follow. `output` is where answers go (default:
    sys.stdout as it is at each stop). `reason` says why there is no full screen, where a user may expect one.
    `looked_after` says that rules or trends see the runs beside it. `failures` counts the commands that did not work
    without a user to mend them, `broken` says that nobody reads the answers any more.
    """

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        filters: Mapping[str, TensorFilter] = BUILT_IN_FILTERS,
        *,
        script: Script | None = None,
        source: Input | None = None,
        json: bool = False,
        output: TextIO | None = None,
        reason: str = "",
        looked_after: bool = False,
        check: Callable[[Settings, Settings], None] = lambda before, settings: None,
    ) -> None:
        self.failures = 0
        self.broken = False
        self._registry = registry
        self._settings = settings
        self._filters = filters
        self._script = script
        self._json = json
        self._stream = output
        self._reason = reason
        self._looked_after = looked_after
        self._check = check
        self._given = source
        self._source: Input | None = None
        self._json_output: JsonOutput | None = None
        self._history: History | None = None
        self._asked_a_person = False

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""
        return self._settings

    def stop(self, event: Stop) -> Decision:
        """Talk about `event` until there is a decision."""
        self._asked_a_person = False
        decision = self._stop(event)
        if self._asked_a_person and not isinstance(decision, StepOn):
            from tfdbg_cli.collection import collect_circles  # not before the first answer

            collect_circles()  # who went back and forth between pages has left circles that hold the run
        return decision

    def _stop(self, event: Stop) -> Decision:
        if self._json_output is not None:
            self._json_output.run_ended(event.run.exactness if isinstance(event, RunEnd) else None)
        if self.broken or (self._script is not None and not self._script.left):
            return Detach()
        stream: TextIO | None = self._stream or sys.stdout
        if stream is None or is_closed(stream):
            to_stderr("Standard output is closed: the program goes on undebugged.")
            self.broken = True
            return Detach()
        source = self._input(stream)
        self._asked_a_person = source.interactive
        if isinstance(event, RunStart) and source.silent():
            # Nobody is there: the program's output stays its own.
            if not self._looked_after:
                to_stderr(f"{source.ending}: the program goes on undebugged.")
            return Detach()
        if self._looked_after and isinstance(event, RunEnd) and event.run.error is not None and source.silent():
            return Detach()  # the program may catch it, and tells of it where it does not
        if self._reason:
            to_stderr(f"The line prompt is used, since {self._reason}.")
            self._reason = ""
        service = self._service(event, stream, source)
        output = self._output(stream, service.width)
        conversation = Conversation(service, source, output, looked_after=self._looked_after)
        try:
            with _ctrl_c_interrupts(), _no_other_screen(source):
                return conversation.hold(opening=self._opens(event, source), titled=self._titled(event))
        except BrokenPipeError:
            self.broken = True
            return Detach()
        finally:
            self.failures += 0 if source.interactive else conversation.failures
            self._say_history_problem()

    def notify(self, message: str) -> None:
        """Say `message` on standard error."""
        to_stderr(message)

    def _opens(self, event: Stop, source: Input) -> bool:
        """Whether the first screen of a stop is printed; as JSON only of a run that nobody will ask about."""
        return self._script is None and (not self._json or (isinstance(event, RunEnd) and source.silent()))

    def _titled(self, event: Stop) -> bool:
        # A script knows which recording it opened, but not at which run of a program it is.
        return not self._json and not (self._script is not None and isinstance(event, Opened))

    def _input(self, stream: TextIO) -> Input:
        if self._given is not None:
            return self._given
        if self._history is None:
            self._history = (
                History() if self._script is not None else History.load(length=self._settings.history_length)
            )
        if self._source is None or self._source.interactive:
            # A terminal may have sent us to the background meanwhile; a pipe remembers what it gave.
            aside = self._json or not is_tty(stream)
            self._source = choose_input(self._script, terminal_facts(), self._history, aside=aside)
        return self._source

    def _service(self, event: Stop, stream: TextIO, source: Input) -> PromptService:
        width = columns() if is_tty(stream) and self._script is None else None
        return PromptService(
            event,
            self._registry,
            self._settings,
            self._filters,
            width=width,
            interactive=source.interactive,
            on_setting=self._set,
            most_pages=_MOST_PAGES,
        )

    def _output(self, stream: TextIO, width: int | None) -> LineOutput:
        if self._json:
            from tfdbg_cli.line.json_output import JsonOutput  # few ask for JSON

            self._json_output = self._json_output or JsonOutput(stream)
            self._json_output.stream = stream
            return self._json_output
        if self._stream is None and terminal_facts().notebook:
            from tfdbg_cli.line.notebook_output import NotebookOutput  # HTML is for notebooks only

            return NotebookOutput()
        color = self._script is None and wants_color(os.environ, is_tty(stream))
        return TextOutput(stream, color=color, width=width)

    def _say_history_problem(self) -> None:
        if self._history is not None and self._history.problem:
            to_stderr(self._history.problem)
            self._history.problem = ""

    def _set(self, settings: Settings) -> None:
        self._check(self._settings, settings)
        self._settings = settings


def _no_other_screen(source: Input) -> AbstractContextManager[object]:
    """The terminal without the screen of the program, where a user is to read what is said."""
    if not source.interactive:
        return nullcontext()
    from tfdbg_cli.process.curses_screen import CursesScreen  # commands of a script need no terminal

    return CursesScreen()


@contextmanager
def _ctrl_c_interrupts() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt at the prompt, whatever it does in the program; as before at the end."""
    theirs = signal.getsignal(signal.SIGINT)
    ours = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or theirs in {ours, signal.SIG_IGN, None}:
        yield
        return
    signal.signal(signal.SIGINT, ours)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, theirs)
