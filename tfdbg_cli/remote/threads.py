"""Threads of ours in a program of somebody else's."""

from __future__ import annotations

import signal
from collections.abc import Callable

from tfdbg_cli.process.own_threads import OwnThread


def start_thread(work: Callable[[], None], name: str) -> None:
    """Do `work` in a thread that takes no signal of the program's, and does not keep it alive."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        OwnThread(target=work, name=name, daemon=True).start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
