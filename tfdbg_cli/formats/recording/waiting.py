"""Waiting for file systems that may never answer: a network file system without its server blocks a call for ever.

Such a call cannot be cancelled. So a thread makes it, and the caller can stop waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.own_threads import OwnThread

PATIENCE = 30.0
"""Seconds to wait for a disk that makes no progress; a network may be away for a while."""

T = TypeVar("T")


def answer(
    work: Callable[[], T],
    impatient: Callable[[], None],
    patience: float = PATIENCE,
    late: Callable[[T], object] = lambda found: None,
) -> T:
    """Call `work` in a thread, and return or raise what it does; Ctrl-C ends the wait.

    If that takes longer than `patience` seconds, `impatient` is called: it may raise to end the wait, too. A result
    that comes after the wait has ended is passed to `late`.
    """
    asked = _Asked(work, late)
    OwnThread(target=asked.ask, name="tfdbg-asked", daemon=True).start()
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
    """Raise the error that the file system of `path` does not answer.

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
