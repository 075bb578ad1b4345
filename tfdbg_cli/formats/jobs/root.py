"""The folder that the workers of a job share: whose folders are in it, and which worker may write where.

`formats/container/layout.py` has a picture of it. Workers need nothing but the file system to share it: each writes
into its own folder, and none looks into another's.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.recording.format import NamedPath
from tfdbg_cli.formats.recording.json_fields import json_bytes
from tfdbg_cli.formats.recording.writer_lock import is_being_written, writer_named
from tfdbg_cli.formats.recording.writing import PRIVATE_FOLDER, cannot_write, refuse_existing

_FORMAT = "tfdbg recordings of the workers of a job"
_VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PRIVATE_FILE = 0o600
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def workers_in(place: NamedPath) -> list[str]:
    """The names of the workers whose folders are in `place`; other folders may lie beside them."""
    return [name for name in place.folders if _NAME.fullmatch(name) and _holds_recording(place.path / name)]


def _holds_recording(folder: Path) -> bool:
    """Whether somebody recorded in `folder`, even if a part of it is gone."""
    return not {layout.INDEX, layout.MANIFEST, layout.DATA}.isdisjoint(NamedPath(folder).names)


def recording_beside(path: Path, worker: str) -> int:
    """How many other workers record below `path` now, as far as that can be told."""
    if not (path / layout.WORKERS).is_file():
        return 0
    others = [other for other in workers_in(NamedPath(path)) if other != worker]
    return sum(is_being_written(path / other / layout.MANIFEST) is not False for other in others)


def folder_for(path: Path, worker: str) -> Path:
    """The folder below `path` into which `worker` records; `path` itself for a program that is no worker of a job.

    Raises:
        TfdbgError: the name cannot be that of a folder, something is there already, or nothing can be written.

    """
    refuse_taken(path, worker)
    if not worker:
        return path
    try:
        path.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another worker was first
            descriptor = os.open(path / layout.WORKERS, _NEW, _PRIVATE_FILE)
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                file.write(json_bytes({"format": _FORMAT, "version": _VERSION}))
    except OSError as error:
        raise cannot_write(path, error) from error
    return path / worker


def refuse_taken(path: Path, worker: str) -> None:
    """Refuse to record into `path`, as `worker` where that has a name, if what is there would be mixed up with it.

    Raises:
        TfdbgError: it would; or the name cannot be that of a folder.

    """
    if worker and not _NAME.fullmatch(worker):
        raise TfdbgError(
            f"{worker!r} cannot be the name of a worker.", hint="Letters, digits, and - _ . within: --worker chief0"
        )
    shared = (path / layout.WORKERS).is_file()
    if shared and not worker:
        names = ", ".join(workers_in(NamedPath(path))) or "none so far"
        raise TfdbgError(
            f"Workers of a job record in {path}: {names}.",
            hint="If this is one of them give it a name, --worker NAME; else choose another folder.",
        )
    folder = path / worker if shared else path
    if (folder / layout.INDEX).is_file():
        message, hint = _recorded(folder, worker if shared else "", bool(worker))
        raise TfdbgError(message, hint=hint)
    try:
        refuse_existing(folder)
    except TfdbgError:
        if shared or not worker or not (path / layout.WORKERS).is_file():
            raise
        refuse_taken(path, worker)  # another worker made it the folder of a job between the two looks


def _recorded(folder: Path, worker: str, named: bool) -> tuple[str, str]:
    """What to say of the recording in `folder`, which is that of `worker` or of a program; and what to do."""
    whose = f"The worker {worker}" if worker else "A program"
    manifest = folder / layout.MANIFEST
    if is_being_written(manifest):
        said = f"{whose} is recording in {folder}: {writer_named(manifest)}."
    else:
        said = f"{whose} has recorded in {folder} already."
    if worker:
        return said, "Give this worker another name, --worker NAME, or choose another folder for the job."
    if named:
        return said, "Start all workers of the job with a name (TF_CONFIG, or --worker NAME) and a new folder."
    return said, "Choose another folder. Workers of one job share one if each has a name: --worker NAME"
