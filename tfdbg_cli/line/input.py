"""Where commands come from: a user at a terminal, a pipe, or `-c`."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol, TextIO, TypeAlias

from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.line.script import Script
from tfdbg_cli.process.standard_input import command_line, commands_stream, is_taken, reader
from tfdbg_cli.process.streams import flush, standard_error, write
from tfdbg_cli.terminal_facts import TerminalFacts

if TYPE_CHECKING:
    from tfdbg_cli.commands.completion import Completions

PROMPT = "tfdbg> "
PATIENCE = 10.0  # seconds that a silent pipe is given for its first command

Completer: TypeAlias = "Callable[[str], Completions]"


class InterruptedElsewhere(KeyboardInterrupt):
    """Ctrl-C at a prompt that is not on the terminal of the program."""


class Input(Protocol):
    """Gives commands, one after another."""

    interactive: bool  # a user sees the answers and can be asked
    echoes: bool  # the commands are not on the screen yet

    def opened(self, completer: Completer) -> AbstractContextManager[object]:
        """Surrounds one stop; what was changed for the prompt is as before at its end."""
        ...

    def read(self, prompt: str = PROMPT) -> str | None:
        """The next command; None when no more will come."""
        ...

    def silent(self) -> bool:
        """Whether there was never a command and none will come. May wait for the first one."""
        ...

    @property
    def ending(self) -> str:
        """Why no more came, as the beginning of a sentence; empty when there is nothing to explain."""
        ...


class ScriptInput:
    """The commands given with `-c`."""

    interactive = False
    echoes = True
    ending = ""

    def __init__(self, script: Script) -> None:
        self._script = script

    def opened(self, completer: Completer) -> AbstractContextManager[object]:
        return nullcontext()

    def read(self, prompt: str = PROMPT) -> str | None:
        return self._script.next()

    def silent(self) -> bool:
        return False


class NoInput:
    """Nobody to ask; `reason` ends a sentence, unless there is nothing to explain."""

    interactive = False
    echoes = False

    def __init__(self, reason: str) -> None:
        self.ending = f"No commands can be typed, since {reason}" if reason else ""

    def opened(self, completer: Completer) -> AbstractContextManager[object]:
        return nullcontext()

    def read(self, prompt: str = PROMPT) -> str | None:
        return None

    def silent(self) -> bool:
        return True


class PipeInput:
    """Commands on a standard input that is no terminal.

    A pipe that the program itself reads holds its data, and no commands. One that stays open and silent is given
    up after `patience` seconds before its first command: a training job must not wait for a user who is not there.
    After a first command it may take its time.
    """

    interactive = False
    echoes = True

    def __init__(self, patience: float = PATIENCE) -> None:
        self.ending = ""
        self._patience = patience
        self._began = False
        self._first: str | None = None

    def opened(self, completer: Completer) -> AbstractContextManager[object]:
        return nullcontext()

    def silent(self) -> bool:
        if not self._began and self._first is None:
            self._first = self._line()
        return not self._began and self._first is None

    def read(self, prompt: str = PROMPT) -> str | None:
        text = self._line() if self._first is None else self._first
        self._first = None
        if text is None:
            self.ending = self.ending or "Standard input holds no more commands"
            return None
        self._began = True
        return text

    def _line(self) -> str | None:
        if who := reader() if not self._began else "The program" if is_taken() else "":
            self.ending = f"{who} reads standard input itself, so no commands come from there (-c gives some)"
            return None
        try:
            if not self._began and not self._ready(commands_stream()):
                self.ending = f"No command came on standard input within {self._patience:g} seconds"
                return None
            text = command_line()
        except UnicodeDecodeError as error:
            self.ending = f"Standard input holds bytes that are no text ({error.reason})"
            return None
        except (AttributeError, OSError, ValueError):  # no standard input, or one that is closed or not for reading
            self.ending = "There is no standard input to read commands from"
            return None
        if not text:
            self.ending = "" if self._began else "Standard input holds no commands"
            return None
        return text.rstrip("\r\n")

    def _ready(self, stream: TextIO) -> bool:
        try:
            return bool(select.select([stream.fileno()], [], [], self._patience)[0])
        except (AttributeError, OSError, ValueError):  # not a file of the operating system: it cannot keep us waiting
            return True


class TerminalInput:
    """A user at a terminal or in a notebook.

    The prompt goes where the answers go as long as that is the terminal, else (`aside`) to standard error.
    """

    interactive = True
    echoes = False
    ending = ""

    def __init__(self, history: History, *, editing: bool, aside: bool) -> None:
        self._history = history
        self._editing = editing
        self._aside = aside
        self._pasted: list[str] = []  # lines that are still to be read: readline takes a paste of several for one

    def opened(self, completer: Completer) -> AbstractContextManager[object]:
        if not self._editing or self._aside:
            return nullcontext()
        from tfdbg_cli.line.editing import Editing  # a script edits nothing

        return Editing(self._history, completer)

    def read(self, prompt: str = PROMPT) -> str | None:
        if self._pasted and prompt == PROMPT:
            pasted = self._pasted.pop(0)
            print(f"{prompt}{pasted}")
            self._history.add(pasted)
            return pasted
        try:
            text = self._typed(prompt) if self._aside or self._editing else input(prompt)
        except (EOFError, OSError, ValueError):  # Ctrl-D, or the terminal is gone
            return None
        except NotImplementedError:  # a notebook that runs without anybody to type
            self.ending = "Nobody can type into this notebook"
            return None
        if text is not None and prompt == PROMPT:
            text, *self._pasted = text.splitlines() or [""]
            self._history.add(text)
        return text

    def _typed(self, prompt: str) -> str | None:
        """What is typed at a terminal, which is the shell's after Ctrl-Z; None where nothing more will be."""
        from tfdbg_cli.line.suspending import suspendable  # scripts and notebooks need none of it

        if not self._aside:
            from tfdbg_cli.line.editing import typed_by_now

            with suspendable(prompt, sys.stdout, typed_by_now):
                return input(prompt)
        stream = standard_error()
        if stream is None:
            return None
        write(stream, prompt)
        flush(stream)
        with suspendable(prompt, stream, str):
            text = sys.stdin.readline()
        return text.rstrip("\n") if text else None

    def silent(self) -> bool:
        return False


def choose_input(script: Script | None, facts: TerminalFacts, history: History, *, aside: bool) -> Input:
    """The input that fits what was asked for and what there is."""
    if script is not None:
        return ScriptInput(script)
    if facts.notebook:
        return TerminalInput(history, editing=False, aside=False)
    if not facts.stdin_tty:
        return PipeInput()
    if facts.controlling and not facts.foreground:
        return NoInput("the program runs in the background")
    return TerminalInput(history, editing=True, aside=aside)
