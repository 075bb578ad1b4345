"""Folders for dumps: their names, their sizes, and whether a user's folder may be used."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.addresses import refuse_to_write
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import LiveSources, is_library


def dump_name(number: int) -> str:
    """The folder of one run in a session root: `run_<microseconds from the epoch>_<number>`."""
    return f"run_{time.time_ns() // 1000}_{number}"


class ProgramSources:
    """The files of the program itself: those of TensorFlow and its like would be far more than the dump."""

    def lines(self, path: str) -> Sequence[str] | None:
        """The lines of `path`; None for the file of a library."""
        return None if is_library(path) else LiveSources().lines(path)


def to_keep(run: Run) -> Run:
    """`run` as it is put on disk."""
    return replace(run, sources=ProgramSources())


def disk_bytes(folder: Path) -> int:
    """Bytes that the files in `folder`, however deep, add to the disk; 0 when it is not there.

    A file that is one with a file of another run (`formats.graph_files`) adds nothing.
    """
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # somebody tidies up meanwhile
                facts = os.lstat(os.path.join(place, name))  # noqa: PTH118  # pathlib takes three times as long
                total += facts.st_size if facts.st_nlink == 1 else 0
    return total


def empty_folder(path: str, argument: str) -> Path:
    """`path` as a folder in which dumps may be made; `~` stands for the home folder.

    Raises:
        ValueError: an address, a file, or a folder that holds something. `argument` is what the caller named it.

    """
    try:
        refuse_to_write(os.fspath(path))
    except TfdbgError as error:
        raise ValueError(f"{argument}: {error}") from None
    folder = Path(path).expanduser()
    if folder.is_dir():
        if any(folder.iterdir()):
            raise ValueError(f"{argument} path points to a non-empty directory: {folder}")
    elif folder.exists():
        raise ValueError(f"{argument} path points to a file: {folder}")
    return folder
