"""Loading the full screen beside the program, so that its first stop need not wait for that."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable

from tfdbg_cli.api.attendance import fills_the_screen
from tfdbg_cli.process.import_lock import release_left_import_lock
from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED
from tfdbg_cli.process.once import Once
from tfdbg_cli.process.own_threads import OwnThread

_LONGEST_WAIT = 5.0  # seconds that a fork waits for modules that are half loaded


def load_beside(ui: str | None = None) -> None:
    """Load what the first stop shows, in a thread, where a user is going to see it on the full screen.

    `ui` is what the program wishes for, as in `choose_frontend`. Loading takes as long as some training steps, and
    once a process; where nobody is at a terminal nothing is loaded.
    """
    if fills_the_screen(ui):
        _loading().start()


def finish_loading() -> None:
    """Wait until the screen is loaded, if that was begun."""
    _loading().wait()


class _Loading:
    """A thread that loads modules, started once. Forks wait for it, or the child would keep a half-loaded module.

    So does the end of the program, but not for ever: a program that was interrupted amid an import may have left that
    such that no other thread can import.
    """

    def __init__(self, load: Callable[[], None]) -> None:
        self._thread = OwnThread(target=load, name="tfdbg-screen", daemon=True)
        self._begun = False
        os.register_at_fork(before=self.wait)

    def start(self) -> None:
        if not self._begun:
            self._begun = True
            self._thread.start()
            atexit.register(self.wait)

    def wait(self) -> None:
        """Wait until everything is loaded, if that was begun."""
        if self._begun and threading.current_thread() is not self._thread:
            release_left_import_lock()
            self._thread.join(_LONGEST_WAIT)
            self._begun = self._begun and not self._thread.is_alive()


@Once
def _loading() -> _Loading:
    return _Loading(_load)


def _load() -> None:
    with OUR_ERRORS_SUPPRESSED:  # what cannot be loaded is told by the first stop
        from tfdbg_cli.tui.frontend import load_first_screen

        load_first_screen()
