"""Signals that would end the program while the screen is up: the terminal is given back first."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from types import FrameType

DEADLY = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGXCPU,
)
"""Signals that end a program which does not handle them, and that people, schedulers and terminals send."""


class Terminated(BaseException):
    """A signal that ends the program came while the screen was up: give the terminal back first, then end by it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def ends_the_program(number: int) -> bool:
    """Whether nobody handles the signal. C code (faulthandler) may do so without Python's knowing."""
    if signal.getsignal(number) is not signal.SIG_DFL:
        return False
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:  # not Linux
        return True
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return caught is None or not int(caught[1], 16) >> (number - 1) & 1


def terminated(number: int, frame: FrameType | None) -> None:
    """The handler of such a signal while the screen is up. Raises `Terminated`."""
    raise Terminated(number)
