"""The lock that Python's imports share, where a signal handler would leave it taken, or has done so."""

from __future__ import annotations

import _imp
import signal
import threading
import time
from contextlib import suppress
from functools import partial
from types import FrameType

from tfdbg_cli.process.own_threads import OwnThread

_IMPORTLIB = "<frozen importlib._bootstrap>"
_A_LITTLE = 0.01  # seconds


def release_left_import_lock() -> None:
    """Give the lock back if this thread holds it, which is not amid an import.

    Python takes it for a few instructions of each import. A handler that raises there, as Ctrl-C does, leaves it
    taken: the thread itself can go on importing, and all others wait for ever.
    """
    with suppress(RuntimeError):  # this thread does not hold it (any more)
        while True:
            _imp.release_lock()


def put_off(number: int, frame: FrameType | None) -> bool:
    """Have signal `number` come again a little later, if `frame`, which it interrupts, takes or releases that lock.

    A handler that is told so must not raise now. Python's functions release the lock by a `finally` that begins only
    behind the line that takes it, and while another thread imports that is where the main thread waits, and where it
    calls the handler. In one of them, the callback of a weak reference, what is raised is lost besides. What they
    call counts like themselves: the signal that was put off can come while the handler still sees to the first one.
    """
    if not _takes_the_lock(frame):
        return False
    try:
        OwnThread(target=partial(_again, number), name="tfdbg-signal", daemon=True).start()
    except RuntimeError:  # there can be no more threads
        return False
    return True


def _takes_the_lock(frame: FrameType | None) -> bool:
    """Whether `frame` or one that called it is of a function of Python's that takes the lock and gives it back."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTLIB and "acquire_lock" in frame.f_code.co_names:
            return True
        frame = frame.f_back
    return False


def _again(number: int) -> None:
    time.sleep(_A_LITTLE)
    signal.pthread_kill(threading.main_thread().ident or 0, number)
