"""Ctrl-C during a watch: the prompt opens after the current run, instead of ending the program."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any
from weakref import WeakSet

from tfdbg_cli.process.import_lock import put_off
from tfdbg_cli.process.streams import to_stderr

CTRL_C = "Ctrl-C"
_WORDS = b"\ntfdbg: The prompt opens after this run. Ctrl-C again interrupts the program.\n"


class Interruption:
    """Takes over Ctrl-C from `begin` to `end`, if `attended()` and if the program has no SIGINT handler of its own.

    The first Ctrl-C sets `asked`, as does `call`, and `by` says which; a second one before `end` raises
    KeyboardInterrupt as usual, and so does any in a forked process. Python sets signal handlers in the main thread
    only: for a watch that begins in another thread, the main thread has to call `stand_by` before. Otherwise such a
    watch leaves Ctrl-C to the program.
    """

    def __init__(self, attended: Callable[[], bool]) -> None:
        self.asked = False
        self.by = CTRL_C
        self._attended = attended

    def stand_by(self) -> None:
        """Install our handler for watches that begin in any thread; until one does, Ctrl-C works as without us."""
        if _in_main_thread() and self._attended():
            _HANDLER.ready.add(self)
            _HANDLER.take()

    def leave(self) -> None:
        """Stand by no longer."""
        _HANDLER.ready.discard(self)
        self.end()

    def call(self, by: str) -> None:
        """Have the prompt open after the current run for somebody outside, whom `by` names; in any thread."""
        self.by, self.asked = by, True

    def begin(self) -> None:
        """Take over Ctrl-C, if its handler is Python's default."""
        self.asked, self.by = False, CTRL_C
        if not self._attended():
            return
        if _in_main_thread():
            _HANDLER.take()
        if _HANDLER.in_place:
            _HANDLER.watching.add(self)

    def end(self) -> None:
        """Give Ctrl-C back; a handler that the program has set meanwhile is kept."""
        self.asked, self.by = False, CTRL_C
        _HANDLER.watching.discard(self)
        _HANDLER.give_back()


def interrupt_main_thread() -> None:
    """Do to the main thread what Ctrl-C does to it, unless this is it; where it ignores that, say so.

    An exception that ends another thread does not end the program. A true signal wakes a main thread that waits.
    """
    main = threading.main_thread()
    if _in_main_thread() or main.ident is None:
        return
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as where a shell began the program behind the scenes
        to_stderr("The program ignores Ctrl-C, so only this thread of it ends.")
    else:  # the main thread may end the program before this one has told what ended it
        to_stderr("The main thread gets a Ctrl-C: the debugger was told to end the program.")
    signal.pthread_kill(main.ident, signal.SIGINT)


class _Handler:
    """Our handler of SIGINT in the place of Python's own, one for all watches of the process."""

    def __init__(self) -> None:
        self.ready: WeakSet[Interruption] = WeakSet()
        self.watching: WeakSet[Interruption] = WeakSet()
        self._process = 0
        self._getsignal = signal.getsignal

    @property
    def in_place(self) -> bool:
        return self._getsignal(signal.SIGINT) == self._handle

    def take(self) -> None:
        if self._getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            signal.getsignal = self._shown
        self._process = os.getpid()

    def give_back(self) -> None:
        """Restore Python's handler once no watch needs ours; in other threads ours stays, and does the same."""
        if _in_main_thread() and not self.ready and not self.watching:
            if self.in_place:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            if signal.getsignal == self._shown:
                signal.getsignal = self._getsignal

    def _shown(self, signalnum: Any) -> Any:
        # asyncio and others install their own handler only if `signal.getsignal` returns Python's default one.
        found = self._getsignal(signalnum)
        return signal.default_int_handler if found == self._handle and not self.watching else found

    _shown.__doc__ = signal.getsignal.__doc__

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:
            self.ready.clear()
            self.watching.clear()
        watching = list(self.watching)
        if all(watch.asked for watch in watching):
            if put_off(number, frame):
                return
            for watch in watching:
                watch.asked = False
            self.give_back()
            signal.default_int_handler(number, frame)
        for watch in watching:
            watch.asked = True
        # Not by print, which is not reentrant: the signal may have come while standard error was being written to.
        if sys.stderr is not None:
            with suppress(OSError, ValueError):
                os.write(2, _WORDS)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


_HANDLER = _Handler()
