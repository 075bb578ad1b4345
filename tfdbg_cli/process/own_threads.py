"""Threads of tfdbg's in a process of somebody else's, whose program neither sees them nor waits for them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import TypeAlias

_Enumerate: TypeAlias = Callable[[], list[threading.Thread]]
_Count: TypeAlias = Callable[[], int]


class OwnThread(threading.Thread):
    """A thread that does something for the program's sake, to its end, and keeps nothing of the program going.

    While one lives, `threading.enumerate` and `threading.active_count` leave it out: a program may join all threads
    that they tell of, or wait until there is one. Nor do the program's tracers follow it.
    """

    def start(self) -> None:
        """Begin, unseen by the program. Raises RuntimeError where no thread can be started."""
        _VEIL.hide(self)
        try:
            super().start()
        except BaseException:
            _VEIL.lift(self)
            raise

    def _bootstrap(self) -> None:
        """Run as any thread does: Python calls this in the new one.

        A signal handler that raises in `start` has it forget a thread that is about to run, which then finds out by a
        KeyError, and does nothing. Python would print that.
        """
        with suppress(KeyError):
            super()._bootstrap()  # type: ignore[misc]  # what it does itself raises nothing: `run` is looked after

    def run(self) -> None:
        """Do the work."""
        sys.settrace(None)
        sys.setprofile(None)
        try:
            super().run()
        finally:
            _VEIL.lift(self)


class _Veil:
    """Replaces what tells of threads as long as there are any to hide."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._hidden: set[threading.Thread] = set()
        self._plain: tuple[_Enumerate, _Count] | None = None
        self._told: tuple[_Enumerate, _Count] | None = None
        os.register_at_fork(after_in_child=self._in_child)

    def hide(self, thread: threading.Thread) -> None:
        """Leave out `thread`, which has yet to start."""
        with self._lock:
            self._hidden.add(thread)
            if self._plain is None:
                self._plain = plain = threading.enumerate, threading.active_count
                self._told = _telling_others(*plain)
                threading.enumerate, threading.active_count = self._told

    def lift(self, thread: threading.Thread) -> None:
        """Leave out `thread` no more, which has done its work."""
        with self._lock:
            self._hidden.discard(thread)
            self._put_back()

    def all(self) -> list[threading.Thread]:
        """All threads."""
        plain = self._plain
        return plain[0]() if plain else threading.enumerate()

    def _put_back(self) -> None:
        """Tell of threads as before, if none is hidden, and nobody has replaced what tells of them after us."""
        if not self._hidden and self._plain and self._told == (threading.enumerate, threading.active_count):
            threading.enumerate, threading.active_count = self._plain
            self._plain = self._told = None

    def _in_child(self) -> None:
        self._lock = threading.RLock()  # a thread of the parent may hold the other one for ever
        self._hidden = set()
        self._put_back()


def _telling_others(enumerate_all: _Enumerate, count_all: _Count) -> tuple[_Enumerate, _Count]:
    """The same two functions, which leave out threads of ours."""

    @wraps(enumerate_all)
    def others() -> list[threading.Thread]:
        return [one for one in enumerate_all() if not isinstance(one, OwnThread)]

    @wraps(count_all)
    def count() -> int:
        return len(others())

    return others, count


_VEIL = _Veil()


def all_threads() -> list[threading.Thread]:
    """All threads that live, those of tfdbg included."""
    return _VEIL.all()


def threads_go_on() -> bool:
    """Whether other threads of the program keep it alive behind its main module."""
    others = (thread for thread in all_threads() if thread is not threading.current_thread())
    return any(not thread.daemon and not isinstance(thread, OwnThread) for thread in others)
