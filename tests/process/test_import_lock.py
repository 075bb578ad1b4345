"""The lock of imports where a signal handler raises as the main thread has taken it."""

from __future__ import annotations

import _imp
import importlib._bootstrap as importing
import signal
import sys
import threading
from collections.abc import Callable

import pytest

from tfdbg_cli.debugger.interruption import Interruption
from tfdbg_cli.process.import_lock import _IMPORTLIB, put_off

_MAIN = threading.main_thread().ident


def _interrupted(take: Callable[[], object]) -> None:
    """Call `take`, and have Ctrl-C come while it waits for the lock, which another thread has."""
    taken, goes_on = threading.Event(), threading.Event()

    def other() -> None:
        _imp.acquire_lock()
        taken.set()
        while "acquire_lock" not in sys._current_frames()[_MAIN or 0].f_code.co_names:
            goes_on.wait(0.001)
        signal.pthread_kill(_MAIN or 0, signal.SIGINT)
        _imp.release_lock()

    thread = threading.Thread(target=other)
    thread.start()
    assert taken.wait(60)
    try:
        with pytest.raises(KeyboardInterrupt):
            take()
            threading.Event().wait(60)  # until it comes
    finally:
        thread.join()


def _enter() -> None:
    with importing._ImportLockContext():
        pass


def _was_held() -> bool:
    """Whether this thread had the lock, of which it gives one hold back. Others may import meanwhile."""
    try:
        _imp.release_lock()
    except RuntimeError:
        return False
    return True


_LOCKS = [importing._get_module_lock("x")]
_WAYS = {"of a module": lambda: importing._get_module_lock("y"), "entered": _enter, "module forgotten": _LOCKS.clear}


@pytest.mark.parametrize("take", _WAYS.values(), ids=_WAYS)
def test_ctrl_c_as_it_is_taken_neither_leaves_it_taken_nor_is_lost(take: Callable[[], object]) -> None:
    """A blind test: the thread that loads the screen waited for it, and the end of the program for that thread."""
    interruption = Interruption(lambda: True)
    interruption.stand_by()
    try:
        _interrupted(take)
        assert not _was_held()
    finally:
        interruption.leave()
        while _was_held():
            pass


def test_what_they_call_counts_like_themselves() -> None:
    """The signal came again while the handler was busy with it: it was raised there, and the lock was left taken."""
    came = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda *_: came.set())
    code = compile("def take(call):\n  return call() or acquire_lock()", _IMPORTLIB, "exec")
    names: dict[str, Callable[[Callable[[], bool]], bool]] = {}
    exec(code, names)
    try:
        assert names["take"](lambda: put_off(signal.SIGUSR1, sys._getframe()))
        assert came.wait(60)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_elsewhere_nothing_is_put_off() -> None:
    assert not put_off(signal.SIGINT, None) and not put_off(signal.SIGINT, sys._getframe())
