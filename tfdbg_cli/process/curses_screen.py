"""The screen that a program has taken by Python's curses: left for a while, and drawn anew."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any, Self

_HANDLED = (signal.SIGTERM, signal.SIGTSTP, signal.SIGWINCH)  # by curses in C, of which Python does not know
_ACTION = 1024  # bytes, more than a `struct sigaction` has anywhere


class CursesScreen:
    """A context: within it the terminal is as it was before the program took its screen, if it has.

    curses is left as its manual says a program leaves it for a shell (`endwin`); drawing anew (`doupdate`) takes the
    terminal, its modes and its cursor back. The handlers of signals that curses has set are there again then,
    whatever was set in their place. Off the main thread nothing is done: curses knows no threads, and the main one
    may be in it.
    """

    def __init__(self) -> None:
        self._curses: Any = None  # while the program is to get its screen back
        self._actions: dict[int, Any] = {}  # of C, by the signal

    def __enter__(self) -> Self:
        curses = sys.modules.get("_curses")
        if threading.current_thread() is threading.main_thread() and curses is not None and _draws(curses):
            self._actions = _actions()
            curses.endwin()
            self._curses = curses
        return self

    def __exit__(self, *error: object) -> None:
        _put_back(self._actions)
        self._actions = {}
        self.show()
        self._curses = None

    @property
    def is_left(self) -> bool:
        """Whether the program has a screen that it is to get back: then curses handles SIGTERM, and ends it by 1."""
        return self._curses is not None

    def give_up(self) -> None:
        """Leave the screen for good: the program is about to end without being asked."""
        self._curses = None

    def show(self) -> bool:
        """Have the screen of the program on the terminal, until `hide`. Tells whether it has one."""
        if self._curses is not None:
            self._curses.doupdate()
        return self.is_left

    def hide(self) -> None:
        """Leave it again."""
        if self._curses is not None:
            self._curses.endwin()


def _actions() -> dict[int, Any]:
    """What C does at the signals that curses handles, of those for which Python does nothing."""
    import ctypes  # few programs have a screen

    found = {}
    for number in _HANDLED:
        if signal.getsignal(number) is signal.SIG_DFL:
            found[int(number)] = action = ctypes.create_string_buffer(_ACTION)
            ctypes.CDLL(None).sigaction(number, None, action)
    return found


def _put_back(actions: dict[int, Any]) -> None:
    for number, action in actions.items():
        if signal.getsignal(number) is signal.SIG_DFL:  # else somebody at the prompt has set a handler
            import ctypes

            ctypes.CDLL(None).sigaction(number, action, None)


def _draws(curses: Any) -> bool:
    """Whether the program has taken the screen, and not given it back."""
    try:
        return not curses.isendwin()
    except curses.error:  # it never took it
        return False
