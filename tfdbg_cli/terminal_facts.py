"""What is known about the terminal, and whether a full screen can work on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from tfdbg_cli.process.standard_input import commands_stream, reader

CONTROLLING_TERMINAL = "/dev/tty"
_COLUMNS = 80  # where nobody knows


@dataclass(frozen=True, slots=True)
class TerminalFacts:
    """What the process knows about its terminal; `ide` names an IDE whose console is not a full one, or is empty."""

    stdin_tty: bool
    stdout_tty: bool
    controlling: bool  # /dev/tty can be opened
    foreground: bool  # the terminal listens to this process
    termios: bool
    term: str
    notebook: bool
    ide: str
    stdin_taken: bool = False  # the program itself reads standard input, so that commands do not come from there

    def obstacle(self, *, chosen: bool = False) -> str:
        """Why a full screen cannot work, as the end of a sentence; empty when it can.

        When the user has `chosen` the full screen, standard input may be anything: it draws on the
        controlling terminal. Else a redirected standard input means that commands come from there, unless the
        program reads it.
        """
        if self.notebook:
            return "a notebook has no terminal"
        if not self.termios:
            return "this system has no POSIX terminals"
        if self.ide and not chosen:
            return f"the console of {self.ide} is no full terminal"
        if not self.controlling:
            return "there is no terminal"
        if not (self.stdin_tty or self.stdin_taken or chosen):
            return "standard input is not a terminal"
        if self.term in {"", "dumb", "unknown"}:
            return f"TERM is {self.term}" if self.term else "TERM is not set"
        return "" if self.foreground else "the program runs in the background"


def terminal_facts(environ: Mapping[str, str] = os.environ) -> TerminalFacts:
    """Find out the facts of this process now; `environ` is its environment."""
    controlling, foreground = _controlling_terminal()
    return TerminalFacts(
        stdin_tty=is_tty(commands_stream()),
        stdin_taken=bool(reader()),
        stdout_tty=is_tty(sys.stdout),
        controlling=controlling,
        foreground=foreground,
        termios=find_spec("termios") is not None,
        term=environ.get("TERM", ""),
        notebook="ipykernel" in sys.modules or "google.colab" in sys.modules,
        ide=_ide(environ),
    )


def is_tty(stream: Any) -> bool:
    """Whether `stream` is a terminal; a missing or closed one is none."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def columns(environ: Mapping[str, str] = os.environ) -> int:
    """The width of the terminal: COLUMNS if that is set, else what the terminal reports, else 80.

    As `shutil.get_terminal_size`; but importing shutil, and with it every compression module, slows each start.
    """
    try:
        told = int(environ.get("COLUMNS", ""))
    except ValueError:
        told = 0
    if told > 0 or sys.__stdout__ is None:
        return told if told > 0 else _COLUMNS
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _COLUMNS
    except (ValueError, OSError):
        return _COLUMNS


def _ide(environ: Mapping[str, str]) -> str:
    if environ.get("PYCHARM_HOSTED"):
        return "PyCharm"
    if "idlelib.run" in sys.modules:
        return "IDLE"
    return "Spyder" if any(name.startswith("SPY_") or name == "SPYDER_ARGS" for name in environ) else ""


def _controlling_terminal() -> tuple[bool, bool]:
    """Whether there is a controlling terminal, and whether this process is in its foreground."""
    try:
        descriptor = os.open(CONTROLLING_TERMINAL, os.O_RDWR | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return False, False
    try:
        return True, os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return True, False
    finally:
        os.close(descriptor)
