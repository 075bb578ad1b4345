"""Ctrl-C as a key of the screen, also while the screen is at work and reads none."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tfdbg_cli.process.own_threads import OwnThread

_AFTER = 0.25  # seconds of work after which the keyboard is looked at
_EVERY = 0.1


class InterruptKey:
    """Looks at the keyboard while the main thread works for the screen, and makes a signal of Ctrl-C to this process.

    The terminal itself would send that to every process in the foreground: the workers that feed the program, and
    what reads its output through a pipe, would end at a key that was meant for the screen.
    """

    def __init__(self, typed: Callable[[], bool]) -> None:
        """`typed()` tells whether Ctrl-C was pressed since it was asked last."""
        self._typed = typed
        self._depth = 0
        self._works = threading.Event()
        self._begun = 0  # pieces of work so far
        self._over = threading.Event()
        self._thread = OwnThread(target=self._listen, name="tfdbg-keyboard", daemon=True)
        self._thread.start()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Within it the main thread works, and reads no keys."""
        self._depth += 1
        if self._depth == 1:
            self._begun += 1
            self._works.set()
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._works.clear()

    def close(self) -> None:
        """Look no more."""
        self._over.set()
        self._works.set()
        self._thread.join()

    def _listen(self) -> None:
        while self._works.wait() and not self._over.is_set():
            number = self._begun
            self._over.wait(_AFTER)
            while self._works.is_set() and number == self._begun and not self._over.is_set():
                if self._typed():
                    # To the main thread, so that what it waits for is broken off.
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                self._over.wait(_EVERY)
