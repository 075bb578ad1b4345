"""Ctrl-C while runs are watched: the prompt opens after the current run, and the program goes on living."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_WORDS = b"\ntfdbg: The prompt opens after this run. Ctrl-C again interrupts the program.\n"


class Interruption:
    """Takes the place of Python's own handler of SIGINT from `begin` to `end`, where `attended` says yes.

    A handler of the program's own stays. The first Ctrl-C makes `asked` true; a second one before `end` raises
    KeyboardInterrupt, as ever, and so does any in a process that was forked off. Signals can be handled in the main
    thread only: begun elsewhere it does nothing, ended elsewhere it hands on every Ctrl-C until the main thread ends
    it as well.
    """

    def __init__(self, attended: Callable[[], bool]) -> None:
        self.asked = False
        self._attended = attended
        self._on = False
        self._process = 0

    def begin(self) -> None:
        """Take Ctrl-C, if it does what it does in Python."""
        self.asked = False
        if threading.current_thread() is not threading.main_thread():
            return
        ours = signal.getsignal(signal.SIGINT) == self._handle
        if (ours or signal.getsignal(signal.SIGINT) is signal.default_int_handler) and self._attended():
            self._on, self._process = True, os.getpid()
            signal.signal(signal.SIGINT, self._handle)

    def end(self) -> None:
        """Put Python's handler back, unless the program has put one of its own there meanwhile."""
        self.asked = self._on = False
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self._on or os.getpid() != self._process:
            self.end()
            signal.default_int_handler(number, frame)
        if self.asked:
            self.asked = False
            signal.default_int_handler(number, frame)
        self.asked = True
        # Not by print: the signal may have come while standard error was being written to.
        if sys.stderr is not None:
            with suppress(OSError, ValueError):
                os.write(2, _WORDS)
