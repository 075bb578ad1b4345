"""Threads of ours in a program of somebody else's."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable


def start_thread(work: Callable[[], None], name: str) -> None:
    """Do `work` in a thread that takes no signal of the program's, and does not keep it alive."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        threading.Thread(target=work, name=name, daemon=True).start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
