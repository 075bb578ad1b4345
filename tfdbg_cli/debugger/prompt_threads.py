"""Which threads come to the prompt, and that one thread of the process at a time does."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Threads that pump data into queues (tf.compat.v1.train.QueueRunner), and those of the runtime in which it calls
# Python for a data set (Python names them so). Nobody means those.
_PUMPS = ("QueueRunnerThread", "Dummy-")
_QUEUES = "QueueRunnerThread"

# There is one terminal, however many sessions are wrapped one by one, each with a debugger of its own.
_TERMINAL = threading.Lock()
_HERE = threading.local()  # whether this thread is at a prompt, of whichever debugger


class PromptThreads:
    """The threads whose runs are debugged: those that `pattern` matches from the start of their name.

    Without one, all but those that pump data.
    """

    def __init__(self, pattern: str | None = None) -> None:
        self._pattern = re.compile(pattern) if pattern else None

    def include_this(self, *, found: bool = False) -> bool:
        """Whether the runs of the current thread are debugged; those that it makes while at the prompt are not.

        Where something was `found` in Python that the runtime calls, they are.
        """
        if getattr(_HERE, "at_prompt", False):
            return False
        name = threading.current_thread().name
        return bool(self._pattern.match(name)) if self._pattern else not name.startswith(_QUEUES if found else _PUMPS)


@contextmanager
def at_prompt() -> Iterator[None]:
    """Let the runs of this thread alone, as while it is at the prompt."""
    before = getattr(_HERE, "at_prompt", False)
    _HERE.at_prompt = True
    try:
        yield
    finally:
        _HERE.at_prompt = before


@contextmanager
def terminal() -> Iterator[None]:
    """Have the terminal for this thread, which is at the prompt then; others wait."""
    with _TERMINAL, at_prompt():
        yield
