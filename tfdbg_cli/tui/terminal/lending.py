"""The terminal under the screen, lent to what needs it whole: another program, Python's debugger, an eye."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import urwid

from tfdbg_cli.errors import TfdbgError


class Lending:
    """What `loop` draws on, where it is a terminal: urwid's other screens, and those of tests, have nothing to lend.

    `loop` gives the loop of the screen, None while there is none.
    """

    def __init__(self, loop: Callable[[], urwid.MainLoop | None]) -> None:
        self._loop = loop
        self.use = ""  # the method of the screen that has the terminal now, such as `talk`; empty while it is drawn

    def copy(self, text: str) -> bool:
        """Put text on the clipboard of the terminal; False when it is too much for it.

        Raises:
            TfdbgError: there is no clipboard.

        """
        copy = getattr(self._screen, "copy", None)
        if copy is None:
            raise TfdbgError("This screen has no clipboard.")
        return bool(copy(text))

    def run(self, command: Sequence[str]) -> None:
        """Run another program on the terminal, and come back when it has ended.

        Raises:
            TfdbgError: there is no terminal, or the program cannot be run.

        """
        try:
            with self._lent(getattr(self._screen, "run", None), "lend") as run:
                run(command)
        except OSError as error:
            raise TfdbgError(f"Cannot run {command[0]}: {error.strerror}.") from None

    def talk(self, work: Callable[[TextIO, TextIO], None]) -> None:
        """Let `work` read from the terminal, its first argument, and write to it, its second.

        Raises:
            TfdbgError: there is no terminal.

        """
        with self._lent(getattr(self._screen, "talk", None), "lend") as talk:
            talk(work)

    def show(self) -> None:
        """The terminal as the program left it, until a key is pressed.

        Raises:
            TfdbgError: there is no terminal.

        """
        with self._lent(getattr(self._screen, "show_terminal", None), "show") as show:
            show()

    @property
    def _screen(self) -> Any:
        loop = self._loop()
        return None if loop is None else loop.screen

    @contextmanager
    def _lent(self, use: Callable[..., object] | None, purpose: str) -> Iterator[Callable[..., object]]:
        """Within it the screen is not drawn, and `use`, a method of it that is given back, may have the terminal.

        Raises:
            TfdbgError: there is no such method.

        """
        loop = self._loop()
        if use is None or loop is None:
            raise TfdbgError(f"This screen has no terminal to {purpose}.")
        with loop.paused():
            self.use = use.__name__
            try:
                yield use
            finally:
                self.use = ""
