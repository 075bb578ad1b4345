"""Names of files that a user types."""

from __future__ import annotations

import os
from pathlib import Path

from tfdbg_cli.errors import TfdbgError


def named_file(name: str) -> Path:
    """The path that `name` means, to be written to; `~` stands for the home folder.

    Raises:
        TfdbgError: no file can be called so, or it is an address.

    """
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise TfdbgError(f"{name!r} cannot be the name of a file.") from None
    if not name or "\0" in name:
        raise TfdbgError(f"{name!r} cannot be the name of a file.")
    if ":/" in name:  # pathlib folds the second slash
        from tfdbg_cli.formats.recording.addresses import refuse_to_write  # nearly everybody names a path

        refuse_to_write(name)
    try:
        return Path(name).expanduser()
    except RuntimeError:  # ~SOMEBODY who has no home here
        return Path(name)
