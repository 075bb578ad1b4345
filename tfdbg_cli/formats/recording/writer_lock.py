"""A lock on the manifest of a recording that tells others it is still being written.

The lock protects nothing: readers and writers do without it. It only answers "is somebody still writing here?", also
after `kill -9`, since the kernel releases it with the process. On a file system without locks that is unknown.
"""

from __future__ import annotations

import fcntl
import json
import os
import weakref
from contextlib import suppress
from pathlib import Path

from tfdbg_cli.errors import WRONG_CONTENT
from tfdbg_cli.formats.recording.json_fields import text, whole
from tfdbg_cli.formats.recording.regular_file import opened, read_whole
from tfdbg_cli.process.own_descriptor import OwnDescriptor

_PRIVATE_FILE = 0o600
_LONGEST = 1 << 20


class WriterLock:
    """A manifest that is locked, until `release`, by the process that writes what it describes."""

    def __init__(self, manifest: Path, content: bytes) -> None:
        """Write `content` to `manifest`, atomically: once the file exists, it is complete and locked.

        Raises:
            OSError: it cannot be written.

        """
        partial = manifest.with_name(f"{manifest.name}.partial-{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        number = os.open(partial, flags, _PRIVATE_FILE)
        self._descriptor: OwnDescriptor | None = OwnDescriptor(number)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with open(os.dup(number), "wb") as file:  # noqa: PTH123 - a descriptor
                file.write(content)
            partial.rename(manifest)
        except BaseException:
            self.release()
            partial.unlink(missing_ok=True)
            raise
        _held.add(self)

    def release(self) -> None:
        """Release the lock: nothing more is written."""
        if self._descriptor is not None:
            # Unlock explicitly: closing is not enough while a child forked just now still has the file open.
            with suppress(OSError):
                fcntl.flock(self._descriptor.number, fcntl.LOCK_UN)
        self.forget()

    def forget(self) -> None:
        """Close our descriptor without unlocking: other processes that have it open still hold the lock."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            descriptor.close()


def is_being_written(manifest: Path) -> bool | None:
    """Whether a living process writes what `manifest` describes; None if that cannot be told."""
    try:
        with opened(manifest) as (file, _):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


def writer_named(manifest: Path) -> str:
    """Who wrote `manifest`, for a sentence: `process 4711 on node-3`; `another process` where it does not say."""
    try:
        fields = json.loads(read_whole(manifest, _LONGEST))["writer"]
        return f"process {whole(fields['process'])} on {text(fields['host'])}"
    except (OSError, *WRONG_CONTENT):
        return "another process"


_held: weakref.WeakSet[WriterLock] = weakref.WeakSet()


def _let_go_in_child() -> None:
    """Close the locks in a forked child: it writes nothing, and must not seem to once its parent has ended."""
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_let_go_in_child)
