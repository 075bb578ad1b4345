"""Files that a command writes: nothing is replaced unasked, and there is never half a file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.plain_files import replace_whole


def new_file(name: str, *, replace: bool, way_out: str) -> Path:
    """The path that `name` means, where a command may write.

    `way_out` is the hint when something is there already and may not be replaced. A device or a pipe is written to
    as it is.

    Raises:
        TfdbgError: no file can be called so, or one is there and `replace` is not given.

    """
    from tfdbg_cli.commands.file_name import named_file  # few commands write to a file

    path = named_file(name)
    try:
        taken = os.path.lexists(path)
    except OSError as error:
        raise _cannot_write(path, error) from None
    if taken and not replace and not _is_stream(path):
        raise TfdbgError(f"{path} exists.", hint=way_out)
    return path


def write_whole(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Let `write` write the file `path`: beside it first, so that it appears whole or not at all.

    Raises:
        TfdbgError: it cannot be written, or the disk is full; what was there is then as it was.

    """
    try:
        if _is_stream(path):
            with _opened(path) as file:
                write(file)
        elif path.is_dir():
            raise IsADirectoryError(None, "Is a directory")
        else:
            replace_whole(path, write)
    except OSError as error:
        raise _cannot_write(path, error) from None


def _opened(stream: Path) -> IO[bytes]:
    """A device or a pipe, to be written to. Raises OSError for a pipe that nobody reads, and does not wait."""
    try:
        descriptor = os.open(stream, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(error.errno, "nobody reads this pipe") from None
        raise
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "wb")


def _is_stream(path: Path) -> bool:
    """Whether `path` is a device or a pipe, such as /dev/null, which no file may take the place of."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _cannot_write(path: Path, error: OSError) -> TfdbgError:
    return TfdbgError(f"Cannot write {path}: {error.strerror or error}.")
