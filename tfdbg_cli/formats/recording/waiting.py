"""Waiting for a file system, which may never answer: one of a network whose server is away keeps who asks for ever.

Nobody can take such a call back. So a thread makes it, and whoever waits can stop to.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

from tfdbg_cli.errors import TfdbgError

PATIENCE = 30.0
"""Seconds for which a disk that takes nothing is waited for: a network may be away for a while."""

T = TypeVar("T")


def answer(
    work: Callable[[], T],
    impatient: Callable[[], None],
    patience: float = PATIENCE,
    late: Callable[[T], object] = lambda found: None,
) -> T:
    """What `work` gives or raises, which a thread of its own does; Ctrl-C ends the wait.

    Without an answer after `patience` seconds `impatient` is called: it raises where nobody is to wait on. What comes
    when nobody waits any more is given to `late`.
    """
    asked = _Asked(work, late)
    threading.Thread(target=asked.ask, name="tfdbg-asked", daemon=True).start()
    try:
        if not asked.over.wait(patience):
            impatient()
            asked.over.wait()
    except BaseException:
        asked.give_up()
        raise
    if asked.error is not None:
        raise asked.error
    return asked.found[0]


def give_up(path: Path, patience: float = PATIENCE) -> NoReturn:
    """Wait no longer for the file system of `path`.

    Raises:
        TfdbgError: always.

    """
    raise TfdbgError(
        f"The file system of {path} has not answered for {patience:.0f} s.",
        hint="Is its server there? Another folder may be on a disk that is.",
    )


class _Asked(Generic[T]):
    """Work that is waited for, until it is given up."""

    def __init__(self, work: Callable[[], T], late: Callable[[T], object]) -> None:
        self.over = threading.Event()
        self.found: list[T] = []
        self.error: BaseException | None = None
        self._work = work
        self._late = late
        self._lock = threading.Lock()
        self._given_up = False

    def ask(self) -> None:
        """Do the work."""
        try:
            self.found.append(self._work())
        except BaseException as error:  # noqa: BLE001  # raised where it is waited for
            self.error = error
        with self._lock:
            self.over.set()
            is_late = self._given_up
        if is_late:
            self._hand_over()

    def give_up(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._given_up = True
            is_there = self.over.is_set()
        if is_there:
            self._hand_over()

    def _hand_over(self) -> None:
        for found in self.found:
            self._late(found)
