"""One stop at the line prompt: commands in, answers out, until there is a decision."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable
from contextlib import nullcontext

from tfdbg_cli.commands.registry import LIVE, Outcome, UiAction
from tfdbg_cli.commands.service.pages import GOES_ON
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.input import Input, InterruptedElsewhere
from tfdbg_cli.line.output import LineOutput
from tfdbg_cli.model.decision import Abort, Continue, Decision, Detach
from tfdbg_cli.process.interruptions import our_errors

_LEAVE = "Leave: c = go on until an error, d = go on undebugged, a = abort, s = stay? "


class Conversation:
    """The prompt on one stop. `failures` counts the commands that did not work.

    `elsewhere` says that the user is not at the terminal of the program: a Ctrl-C there is the program's own.
    `looked_after` says that rules or trends see the runs beside the prompt: a program without commands is debugged.
    """

    def __init__(
        self,
        service: PromptService,
        source: Input,
        output: LineOutput,
        *,
        elsewhere: bool = False,
        looked_after: bool = False,
    ) -> None:
        self.failures = 0
        self._service = service
        self._source = source
        self._output = output
        self._elsewhere = elsewhere
        self._looked_after = looked_after
        self._shown = ""  # the last command that was answered by a document

    def hold(self, *, opening: bool, titled: bool = True) -> Decision:
        """Talk until there is a decision. `titled` says which stop this is, `opening` prints its first screen."""
        try:
            if not self._recording:
                self._output.begin()
            if titled:
                self._output.title(self._service.title)
                self._say_notes(self._service.notes if opening else self._service.unseen_notes)
            if opening:
                self._perform(self._service.opening)
        except KeyboardInterrupt as error:
            self._leave_to_program(error)
            if not self._source.interactive:
                return Abort()
            self._output.note("Interrupted.")
        if self._source.silent():
            return Detach() if self._looked_after else self._ended()
        followed = self._service.following if self._service.followed else nullcontext()
        with self._source.opened(self._service.complete), followed:
            return self._listen()

    def _listen(self) -> Decision:
        interrupted = False
        while True:
            try:
                if self._service.followed:
                    self._say_notes(filter(None, (self._service.following.news(),)))
                text = self._source.read()
                if text is None:
                    return self._ended()
                interrupted = False
                decision = self._obey(text)
            except KeyboardInterrupt as error:
                self._leave_to_program(error)
                if not self._source.interactive:
                    return Abort()
                self._output.note("")
                if interrupted and not self._recording and not self._elsewhere:
                    self._output.note("Ctrl-C again ends the program.")
                decision = self._leave() if interrupted else None
                interrupted = not interrupted
                if interrupted:
                    self._output.note("Interrupted. Ctrl-C again asks how to leave.")
            if decision is not None:
                return decision

    def _leave_to_program(self, error: KeyboardInterrupt) -> None:
        """Raise `error` again where it is not that of the user at this prompt."""
        if self._elsewhere and not isinstance(error, InterruptedElsewhere):
            raise error

    def _ended(self) -> Decision:
        """No more commands: the program goes on without us."""
        ending = self._source.ending
        if ending:
            alone = not self._recording and not self._looked_after
            self._output.note(f"{ending}: the program goes on undebugged." if alone else f"{ending}.")
        elif self._source.interactive:
            self._output.note("")  # Ctrl-D left the cursor behind the prompt
            if not self._recording:
                self._output.note("Detached: the program goes on undebugged.")
        return Detach()

    def _obey(self, text: str) -> Decision | None:
        command = text.strip().removeprefix(":").lstrip()  # the key that opens the prompt of the full screen
        if self._source.echoes and command:
            self._output.echo(command)
        return self._perform(command) if command else None

    def _perform(self, command: str) -> Decision | None:
        """Run `command` and print its answer; a decision ends the stop."""
        looked_at = self._service.run
        try:
            outcome = self._outcome(command)
            if isinstance(outcome, UiAction):
                return self._act(outcome, command)
            if isinstance(outcome, Document):
                if self._service.run != looked_at:
                    self._output.title(self._title_of_run())
                self._output.document(command, outcome)
                self._remember(command, outcome)
                self._shown = command
                return None
        except TfdbgError as error:
            self._fail(command, error)
            return None
        except (BrokenPipeError, RecursionError, MemoryError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            self._fail(command, TfdbgError(f"This is too big to show ({type(error).__name__})."))
            return None
        except our_errors() as error:  # a bug of ours must not end the user's program
            self._fail(command, _bug(command, error))
            return None
        self._output.decision(command, outcome)
        return outcome

    def _outcome(self, command: str) -> Outcome:
        if command[0] in "/@":
            last = self._last()
            from tfdbg_cli.line.search import element_lines, matching_lines  # most that is said here is no search

            search = matching_lines if command[0] == "/" else element_lines
            return search(command[1:], last, self._service.width)
        if not self._source.interactive:
            return self._service.execute(command)
        from tfdbg_cli.formats.recording.fetching import (  # before the first command nothing is read
            in_steps,
            once_there,
        )

        self._output.wait(in_steps(lambda: self._service.steps(command)))
        with self._output.working():
            return once_there(lambda: self._service.execute(command), self._service.marked())

    def _fail(self, command: str, error: TfdbgError) -> None:
        self.failures += 1
        self._output.error(command, error)

    def _act(self, action: UiAction, command: str) -> Decision | None:
        if action is UiAction.LEAVE:
            decision = self._leave()
            if decision is not None:
                self._output.decision(command, decision)
            return decision
        if action is UiAction.SHOW_AGAIN:
            self._show_again(command)
            return None
        if action in {UiAction.BACK, UiAction.FORWARD}:
            step = -1 if action is UiAction.BACK else 1
            pages = self._service.pages
            # What was printed is printed again; the run looked at stays the one that was chosen.
            if not pages.go(pages.at + step):
                running = self._service.moment in LIVE and not self._service.sent
                raise TfdbgError(
                    f"There is no {'earlier' if step < 0 else 'later'} output.",
                    hint=GOES_ON if running and step > 0 else "",
                )
            self._output.document(command, pages.current.document)
            return None
        if action is UiAction.OUTPUT:
            raise TfdbgError("What the program writes stands above, between the answers.")
        if action in {UiAction.SHELL, UiAction.PDB}:
            if self._elsewhere:
                raise TfdbgError(f"`{command}` needs the terminal of the program, and you are attached by a socket.")
            if not self._source.interactive:
                raise TfdbgError(f"`{command}` needs a person at a terminal.")
            if action is UiAction.PDB:
                self._service.talk_as_pdb(sys.stdin, sys.stdout)
            else:
                _open_shell()
            return None
        raise TfdbgError("The mouse works in the full screen only.", hint="`--ui tui` opens it on a terminal.")

    def _show_again(self, command: str) -> None:
        """The last answer once more, of the run looked at now."""
        self._output.title(self._title_of_run())
        again = self._service.shown_again(self._shown)
        outcome = self._service.execute(again)
        assert isinstance(outcome, Document)
        self._output.document(command, outcome)
        self._remember(again, outcome)

    def _title_of_run(self) -> Line:
        """The title of the stop; that of a recording is the same for all its runs, so it has the run behind it."""
        title = self._service.title
        if self._service.recording is None:
            return title
        return line(*title.spans, Span(f", {self._service.label}", Style.TITLE))

    def _say_notes(self, notes: Iterable[str]) -> None:
        """What was done at the stop, or what keeps a run from being made as it was asked for."""
        for note in notes:
            self._output.note(note)

    def _leave(self) -> Decision | None:
        """Ask how to leave; None to stay. Without a user the program goes on."""
        while not self._recording and self._source.interactive:
            try:
                answer = self._source.read(_LEAVE)
            except KeyboardInterrupt as error:
                self._leave_to_program(error)
                self._output.note("")  # the cursor stands behind the question
                if not self._elsewhere:  # as on the full screen
                    return Abort()
                self._output.note("Stayed: `abort` ends the program.")
                answer = "s"
            if answer is None:
                break
            match answer.strip().lower():  # a command is no answer: `diff` is not to end the debugging
                case "a" | "abort":
                    return Abort()
                case "c" | "continue":
                    return Continue()
                case "s" | "stay":
                    return None
                case "d" | "detach":
                    break
        return Detach()

    def _remember(self, command: str, document: Document) -> None:
        # Without the name of its run: to say it a recording would have to be read that no command asked for.
        self._service.show(command, document, label="")

    def _last(self) -> Document:
        if not self._service.pages.all:
            raise TfdbgError("Nothing has been printed yet.")
        return self._service.pages.current.document

    @property
    def _recording(self) -> bool:
        return self._service.recording is not None


def _bug(command: str, error: Exception) -> TfdbgError:
    """What to show for an exception that nobody expected."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    shown = f"{trace}\n" if os.environ.get("TFDBG_DEBUG", "0") not in {"", "0"} else ""
    hint = "" if shown else "TFDBG_DEBUG=1 shows the traceback."
    word = command.split()[0]
    return TfdbgError(
        f"{shown}`{word}` failed by a bug of tfdbg: {type(error).__name__}: {error}.", hint=hint, exit_code=2
    )


def _open_shell() -> None:
    """Open $SHELL on the terminal; its `exit` comes back."""
    shell = os.environ.get("SHELL") or "/bin/sh"
    sys.stdout.flush()
    try:
        import subprocess  # most conversations hold none

        subprocess.run([shell], check=False)
    except OSError as error:
        raise TfdbgError(f"Cannot run {shell}: {error.strerror}.") from None
