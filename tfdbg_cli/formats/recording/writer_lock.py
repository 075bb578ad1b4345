"""Telling others that something is being written: a lock on its manifest, which the kernel lets go with the process.

Nobody needs the lock to read or to write. It answers one question, "does somebody still write here?", rightly after
`kill -9` too. Where a file system knows no locks nobody can tell.
"""

from __future__ import annotations

import fcntl
import json
import os
import weakref
from contextlib import suppress
from pathlib import Path

from tfdbg_cli.formats.recording.json_fields import WRONG_CONTENT, text, whole
from tfdbg_cli.formats.recording.regular_file import opened, read_whole

_PRIVATE_FILE = 0o600
_LONGEST = 1 << 20


class WriterLock:
    """A manifest that is held by the process that writes what it describes, until `release`."""

    def __init__(self, manifest: Path, content: bytes) -> None:
        """Write `content` as `manifest`: as soon as there is a file of that name it is complete, and locked.

        Raises:
            OSError: it cannot be written.

        """
        partial = manifest.with_name(f"{manifest.name}.partial-{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._descriptor: int | None = os.open(partial, flags, _PRIVATE_FILE)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with open(os.dup(self._descriptor), "wb") as file:  # noqa: PTH123 - a descriptor
                file.write(content)
            partial.rename(manifest)
        except BaseException:
            self.release()
            raise
        _held.add(self)

    def release(self) -> None:
        """Let others see that nothing more is written."""
        if self._descriptor is not None:
            with suppress(OSError):  # a child that was forked off just now may still have it open
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.forget()

    def forget(self) -> None:
        """Hold the lock no longer in this process, whoever else does."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def is_being_written(manifest: Path) -> bool | None:
    """Whether a process that lives writes what `manifest` describes; None where nobody can tell."""
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
    """A process that is forked off writes nothing, and must not look as if it did when its parent is gone."""
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_let_go_in_child)
