"""A folder into which several runs are dumped, as TensorFlow does where all of them have one address.

The names of what is dumped hold a time, so that runs lie beside each other. What tfdbg notes beside a dump is of one
run alone, and is there no more when a second one comes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tfdbg_cli.formats.dumps.case_layout import CASE_DIRECTORY
from tfdbg_cli.formats.dumps.listing import CORE_METADATA_PREFIX, FEED_KEYS_PREFIX, FETCHES_PREFIX, GRAPH_PREFIX
from tfdbg_cli.formats.recording.writing import PRIVATE_FOLDER, cannot_write, whole_directory

_OF_THE_LAST = (FETCHES_PREFIX, FEED_KEYS_PREFIX)  # their names hold no time


def add_to_pile(dump: Path, folder: Path) -> None:
    """Put the run that was dumped into `dump` into `folder`, too; `dump` stays as it is.

    A new or empty folder appears whole. Else each file does, and last of all the one that announces the run.

    Raises:
        TfdbgError: the disk is full, or nobody may write there.

    """
    try:
        if not folder.is_dir() or not any(folder.iterdir()):
            with whole_directory(folder) as place:
                shutil.copytree(dump, place, dirs_exist_ok=True)
            return
        case = folder / CASE_DIRECTORY
        if case.is_dir() and not case.is_symlink():
            shutil.rmtree(case)
        for path in sorted(_dumped(dump), key=lambda path: path.name.startswith(CORE_METADATA_PREFIX)):
            _add(path, folder / path.relative_to(dump))
    except OSError as error:
        raise cannot_write(folder, error) from error


def _dumped(dump: Path) -> Iterator[Path]:
    """The files that TensorFlow would have written."""
    for place, folders, names in os.walk(dump):
        if CASE_DIRECTORY in folders:
            folders.remove(CASE_DIRECTORY)
        yield from (Path(place, name) for name in names)


def _add(path: Path, target: Path) -> None:
    if target.exists():
        if target.name.startswith(GRAPH_PREFIX):  # named by its hash: TensorFlow wrote it once for all these runs
            return
        if not target.name.startswith(_OF_THE_LAST):
            target = _free(target)
    target.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    made, name = tempfile.mkstemp(prefix="partial-", dir=target.parent)
    os.close(made)
    try:
        shutil.copyfile(path, name)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


def _free(target: Path) -> Path:
    """The name that TensorFlow would give to another dump of the same microsecond."""
    return next(one for n in count(1) if not (one := target.with_name(f"{target.name}-{n}")).exists())
