"""Folders for what nobody keeps: deleted by those who made them, or by a later program if theirs is killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tfdbg_cli.process.own_descriptor import OwnDescriptor
from tfdbg_cli.process.program_end import at_the_end

MEMORY = Path("/dev/shm")  # where Linux has a file system in memory (tmpfs)
_PREFIX = "tfdbg_cli_scratch_"  # no name that a user would give to a folder of dumps
_LEAST_AGE = 600.0  # seconds; a younger folder may not be locked yet

_swept: set[str] = set()  # the folders of temporary files that were looked through


class ScratchFolder:
    """A new folder, by default among the temporary files. While it is open nobody takes it for a leftover.

    A killed process can delete nothing; what it left is found by the lock that it holds no more.
    """

    def __init__(self, place: Path | None = None) -> None:
        """Make the folder, in `place` if that is given.

        Raises:
            OSError: it cannot be made.

        """
        where = tempfile.gettempdir() if place is None else str(place)
        for one in (where, MEMORY):
            _sweep(str(one))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))
        number = os.open(self.path, os.O_RDONLY)
        self._lock: OwnDescriptor | None = OwnDescriptor(number)
        with suppress(OSError):  # a file system without locks, where nothing is swept either
            fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def delete(self) -> None:
        """Delete the folder with all that is in it; a second time nothing is done.

        Raises:
            OSError: something in it cannot be deleted.

        """
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            shutil.rmtree(self.path)
        finally:
            lock.close()

    def delete_at_exit(self) -> None:
        """Have it deleted when Python ends; a process that was forked off deletes nothing."""
        at_the_end(partial(_delete_in, os.getpid(), self.path))


def _delete_in(process: int, folder: Path) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(place: str) -> None:
    """Delete, once for a program, the folders in `place` that killed programs of the same user left."""
    if place in _swept:
        return
    _swept.add(place)
    for folder in _old_folders(place):
        with suppress(OSError), _locked(folder):
            shutil.rmtree(folder)


def _old_folders(place: str) -> Iterator[str]:
    try:
        with os.scandir(place) as entries:
            found = [entry for entry in entries if entry.name.startswith(_PREFIX)]
    except OSError:
        return
    for entry in found:
        with suppress(OSError):
            facts = entry.stat(follow_symlinks=False)
            old = time.time() - facts.st_mtime > _LEAST_AGE
            if entry.is_dir(follow_symlinks=False) and facts.st_uid == os.getuid() and old:
                yield entry.path


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Hold `folder` alone.

    Raises:
        OSError: a process that lives holds it, or this file system has no locks.

    """
    lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)
