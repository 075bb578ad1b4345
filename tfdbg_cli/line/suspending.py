"""Ctrl-Z at the line prompt: the terminal is the shell's meanwhile, and the prompt is back after `fg`.

Python's readline does neither: it leaves the terminal as it had set it, takes it for set still when the program goes
on, and draws nothing.

What was typed is drawn again with the cursor behind it. Where that was moved back before, readline still edits there:
it tells Python neither the place nor how to draw there. Nor is a text of several rows drawn over those that it had.
Ctrl-L draws it as it is.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from tfdbg_cli.process.streams import flush, write

_NO_TERMINAL = (termios.error, OSError, ValueError)


@contextmanager
def suspendable(prompt: str, stream: TextIO | None, typed: Callable[[], str]) -> Iterator[None]:
    """Surrounds one reading of a line behind `prompt` on `stream`; `typed` tells what was typed by now.

    Nothing is done off the main thread, where signals do not come, nor where the program handles Ctrl-Z itself.
    """
    number = signal.SIGTSTP
    try:
        terminal = sys.stdin.fileno()
        shells = termios.tcgetattr(terminal)
    except (*_NO_TERMINAL, AttributeError):
        terminal = -1
    mine = threading.current_thread() is threading.main_thread() and signal.getsignal(number) is signal.SIG_DFL
    if terminal < 0 or not mine or stream is None:
        yield
        return

    def stop(*_: object) -> None:
        with suppress(*_NO_TERMINAL):
            ours = termios.tcgetattr(terminal)
            termios.tcsetattr(terminal, termios.TCSANOW, shells)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)  # returns when the program goes on
            signal.signal(number, stop)
            termios.tcsetattr(terminal, termios.TCSANOW, ours)
            write(stream, f"\r{prompt}{typed()}")
            flush(stream)

    # A handler in C (`terminal_signals`) is SIG_DFL to Python, and gone now: it listens again behind each prompt.
    signal.signal(number, stop)
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL)
