"""Descriptors of tfdbg's that stay open while the program runs.

A program may close all descriptors that it did not open itself, as one does that goes into the background
(`os.closerange`). Its own files then have the numbers of ours: to write there, or to close one, would spoil them.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_cli.process.own_threads import OwnThread

if TYPE_CHECKING:
    import socket

_OPEN = Path("/dev/fd")  # the numbers of the open descriptors, on Linux and macOS


class LostDescriptorError(OSError):
    """The program has closed a descriptor of ours."""

    def __init__(self) -> None:
        super().__init__(errno.EBADF, "the program has closed a file of tfdbg's")


class OwnDescriptor:
    """The descriptor `number`, which is open; it is ours as long as it leads to the same file, pipe or socket."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._leads_to = _place(number)

    @property
    def lost(self) -> bool:
        """Whether the program has closed it."""
        return _place(self._number) != self._leads_to

    @property
    def number(self) -> int:
        """The number, to be used at once. Raises LostDescriptorError."""
        if self.lost:
            raise LostDescriptorError
        return self._number

    def close(self) -> None:
        """Close it; where it is lost nothing is closed."""
        with suppress(LostDescriptorError):
            os.close(self.number)


class OwnSocket:
    """The socket `plain`, which is ours as long as its descriptor is."""

    def __init__(self, plain: socket.socket) -> None:
        self.plain = plain
        self._descriptor = OwnDescriptor(plain.fileno())

    @property
    def ours(self) -> socket.socket:
        """The socket, to be used at once. Raises LostDescriptorError."""
        if self._descriptor.lost:
            self.close()
            raise LostDescriptorError
        return self.plain

    def close(self) -> None:
        """Close it; where its descriptor is lost nothing is closed, now or later."""
        if self._descriptor.lost:
            self.plain.detach()
        with suppress(OSError):
            self.plain.close()


def descriptors_of(path: Path) -> tuple[OwnDescriptor, ...]:
    """The descriptors of this process that lead to the file at `path`; none where the system does not list them.

    To be asked where a library keeps them, such as SQLite.
    """
    try:
        found = path.stat()
        numbers = [int(name) for name in os.listdir(_OPEN)]  # noqa: PTH208  # without a Path for each
    except (OSError, ValueError):
        return ()
    place = found.st_dev, found.st_ino
    return tuple(OwnDescriptor(number) for number in numbers if _place(number) == place)


def settled_before_closing(settle: Callable[[], None]) -> Callable[[], None]:
    """Have `settle` called whenever the program calls `os.closerange`, until what this gives is called.

    A library that is in the midst of writing would find its files gone, and spoil others. A forked child, which has
    no thread that writes, closes at once.
    """
    plain, process = os.closerange, os.getpid()
    settles = [settle]

    @wraps(plain)
    def closerange(low: int, high: int, /) -> None:
        if settles and os.getpid() == process:
            settles[0]()
        plain(low, high)

    def undo() -> None:
        settles.clear()
        if os.closerange is closerange:  # else somebody has replaced it after us, and may call ours
            os.closerange = plain

    os.closerange = closerange
    return undo


def keep_for_ever(owner: object) -> None:
    """Have `owner`, which closes lost descriptors as soon as nobody holds it, held as long as this process lives.

    Python lets go of what modules hold before it ends; a thread that does not is ended with all that it holds.
    """
    OwnThread(target=_hold, args=(owner,), name="tfdbg-holding", daemon=True).start()


def _hold(owner: object) -> None:
    threading.Event().wait()


def _place(number: int) -> tuple[int, int] | None:
    """The file behind `number`; None where that is closed."""
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino
