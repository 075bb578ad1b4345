"""The limit on the size of files (RLIMIT_FSIZE), which ends no program by what tfdbg writes.

The kernel sends SIGXFSZ to the thread that would write beyond it. Python ignores that from the start, but the program
may have it end the process, or handle it. The write fails in any case.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_TOO_LARGE = getattr(signal, "SIGXFSZ", None)
# Linux alone sends it to the thread, and has this.
_taken = getattr(signal, "sigtimedwait", None)


class FileLimit:
    """What a thread has met of the limit within the context that gave this."""

    @property
    def met(self) -> bool:
        """Whether something was to be written beyond it. False where nobody can tell; asked within the context."""
        return _taken is not None and _TOO_LARGE in signal.sigpending()


@contextmanager
def file_limit() -> Iterator[FileLimit]:
    """A context in which a write of this thread that goes beyond the limit fails (EFBIG), and sends no signal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        if _TOO_LARGE is not None:
            signal.pthread_sigmask(signal.SIG_BLOCK, (_TOO_LARGE,))
        yield FileLimit()
    finally:
        if _TOO_LARGE is not None and _TOO_LARGE not in before:
            if _taken is not None:
                _taken((_TOO_LARGE,), 0)  # else it would come now
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (_TOO_LARGE,))
