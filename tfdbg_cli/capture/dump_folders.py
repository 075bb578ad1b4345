"""Folders for dumps: named by time and number, made when the first is written, checked as TensorFlow's tfdbg does."""

from __future__ import annotations

import time
from pathlib import Path


def dump_name(number: int) -> str:
    """The folder of one run in a session root: `run_<microseconds from the epoch>_<number>`."""
    return f"run_{time.time_ns() // 1000}_{number}"


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
