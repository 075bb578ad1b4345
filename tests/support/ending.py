"""A guard against tests that wait for ever: the block fails when it does not come to an end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_LONGEST = 20  # seconds for what takes milliseconds: only what has no end gets there


class WithoutEndError(BaseException):
    """No `Exception`: tfdbg catches whatever a filter or a file may raise."""


@contextmanager
def ends(what: str) -> Iterator[None]:
    """Fail, naming `what`, when the block does not come to an end."""

    def expired(signum: int, frame: FrameType | None) -> None:
        raise WithoutEndError(f"{what} does not end")

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(_LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
