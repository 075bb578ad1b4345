"""Which threads may open the prompt, and the lock by which only one thread of the process does at a time."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Threads of tf.compat.v1.train.QueueRunner, and the runtime's own threads, which Python names "Dummy-N", in which it
# calls Python functions of a data set. They only supply input, and nobody wants to stop in them.
_PUMPS = ("QueueRunnerThread", "Dummy-")
_QUEUES = "QueueRunnerThread"

# There is one terminal, however many sessions are wrapped one by one, each with a debugger of its own.
_TERMINAL = threading.Lock()
_HERE = threading.local()  # whether this thread is at a prompt, of whichever debugger


class PromptThreads:
    """The threads whose runs are debugged: those whose name `pattern` matches from its start.

    Without a pattern, all threads but those that only supply input (queue runners, functions of data sets).
    """

    def __init__(self, pattern: str | None = None) -> None:
        self._pattern = re.compile(pattern) if pattern else None

    def include_this(self, *, found: bool = False) -> bool:
        """Whether runs of the current thread are debugged; never while it is at a prompt.

        `found` says that a watch has found something here; then the runtime's own threads are included.
        """
        return not getattr(_HERE, "at_prompt", False) and self._admits_this(found)

    def counts_this(self, *, found: bool = False) -> bool:
        """Whether runs of the current thread have numbers: all but those of a thread that only supplies input.

        How many such a thread has made by the time that another makes its own is a matter of chance.
        """
        return self._admits_this(found) or not threading.current_thread().name.startswith(_PUMPS)

    def _admits_this(self, found: bool) -> bool:
        name = threading.current_thread().name
        return bool(self._pattern.match(name)) if self._pattern else not name.startswith(_QUEUES if found else _PUMPS)


@contextmanager
def at_prompt() -> Iterator[None]:
    """A context in which runs of this thread are left alone, as while it is at the prompt."""
    before = getattr(_HERE, "at_prompt", False)
    _HERE.at_prompt = True
    try:
        yield
    finally:
        _HERE.at_prompt = before


@contextmanager
def terminal() -> Iterator[None]:
    """A context in which this thread is at the prompt and has the terminal for itself; other threads block."""
    with _TERMINAL, at_prompt():
        yield
