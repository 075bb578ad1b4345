"""Whose terminal it is: the process group that may set its modes, which shells make themselves and give back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def foreground_taken_back(descriptor: int) -> Iterator[None]:
    """At the end our process group has the terminal again, if it had it at the beginning.

    A shell that is killed gives nothing back, and who sets modes without having the terminal is stopped (SIGTTOU).
    """
    ours = os.getpgrp()
    had = _has(ours, descriptor)
    try:
        yield
    finally:
        if had and not _has(ours, descriptor):
            _take(ours, descriptor)


def _has(group: int, descriptor: int) -> bool:
    try:
        return os.tcgetpgrp(descriptor) == group
    except OSError:  # the terminal is gone
        return False


def _take(group: int, descriptor: int) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})  # else taking it is what stops us
    try:
        with suppress(OSError):  # the terminal is gone
            os.tcsetpgrp(descriptor, group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
