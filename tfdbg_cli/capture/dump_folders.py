"""Folders for dumps: named by time and number, made when the first is written, checked as TensorFlow's tfdbg does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

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


def size_of(folder: Path) -> int:
    """Bytes of the files in `folder`, however deep; 0 when it is not there."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def empty_folder(path: str, argument: str) -> Path:
    """`path` as a folder in which dumps may be made; `~` stands for the home folder.

    Raises:
        ValueError: a file, or a folder that holds something. `argument` is what the caller named it.

    """
    folder = Path(path).expanduser()
    if folder.is_dir():
        if any(folder.iterdir()):
            raise ValueError(f"{argument} path points to a non-empty directory: {folder}")
    elif folder.exists():
        raise ValueError(f"{argument} path points to a file: {folder}")
    return folder
