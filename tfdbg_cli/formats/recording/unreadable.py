"""What is said of a path that cannot be read, or is no file."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

from tfdbg_cli.errors import TfdbgError

_HINTS = {
    errno.EACCES: "Check its permissions.",
    errno.EPERM: "Check its permissions.",
    errno.ELOOP: "Check where its links lead.",
}
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def cannot_read(path: Path, error: OSError) -> TfdbgError:
    """The TfdbgError to raise for `error`, which occurred while reading `path`."""
    hint = _HINTS.get(error.errno or 0, "Is it the file that you mean?")
    return TfdbgError(f"Cannot read {path}: {error.strerror or error}.", hint=hint)


def is_refused(error: OSError) -> bool:
    """Whether what `error` tells of may be there, and cannot be reached as it is."""
    return error.errno in _HINTS


def special_kind(path: Path) -> str:
    """What is at `path`, as `a pipe`, if that is neither a file nor a folder; else empty."""
    try:
        return _KINDS.get(stat.S_IFMT(path.stat().st_mode), "")
    except OSError:
        return ""


def is_empty(path: Path) -> bool:
    """Whether there is a file at `path` that holds nothing."""
    try:
        facts = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(facts.st_mode) and not facts.st_size
