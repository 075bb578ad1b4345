"""Threads of tfdbg's that Python waits for at the end of the program, though they are none of the program's."""

from __future__ import annotations

import threading


class OwnThread(threading.Thread):
    """A thread that does something for the program's sake, to its end, and keeps nothing of the program going."""


def threads_go_on() -> bool:
    """Whether other threads of the program keep it alive behind its main module."""
    others = (thread for thread in threading.enumerate() if thread is not threading.current_thread())
    return any(not thread.daemon and not isinstance(thread, OwnThread) for thread in others)
