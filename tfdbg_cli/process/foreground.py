"""The other processes that run at the terminal with this one: its workers, and what reads its output."""

from __future__ import annotations

import os
import signal
import threading


def interrupt_others() -> None:
    """Interrupt them as Ctrl-C at the terminal would; this process is spared.

    Does nothing off the main thread, which alone can put a handler aside.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.killpg(os.getpgrp(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, handler)
