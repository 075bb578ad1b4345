"""What somebody names by an address: a file or a folder of this machine stands for it, and texts tell the address."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.checkpoints.file_names import ENDING
from tfdbg_cli.formats.recording.saved_runs import SavedRuns
from tfdbg_cli.formats.recording.stand_in import let_stand
from tfdbg_cli.formats.remote.far_file import FarFile
from tfdbg_cli.formats.remote.far_folder import FarFolder
from tfdbg_cli.formats.remote.file_system import FileSystem, require_usual_count, unreachable
from tfdbg_cli.formats.remote.located import located
from tfdbg_cli.model.runs import HoldsMade, Opened, Run

_LONGEST_NAME = 255
_ODD = "{count:,} files have names that no file here can have, and were left out."


@dataclass(frozen=True)
class FarPlace:
    """`path` stands for what is at `address`; in texts `here` is a folder of this machine, where `there` is meant.

    `notes` are for the user.
    """

    address: str
    path: Path
    here: str
    there: str
    notes: tuple[str, ...] = ()

    def told(self, text: str) -> str:
        """`text`, in which paths are addresses."""
        return text.replace(self.here, self.there)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Errors that come meanwhile tell addresses."""
        try:
            yield
        except TfdbgError as error:
            told = TfdbgError(self.told(error.message), hint=self.told(error.hint), exit_code=error.exit_code)
            raise told from error

    def opened(self, recording: Opened) -> Opened:
        """`recording`, which was opened at `path`, as one at the address."""
        runs = recording.runs

        def read(place: int) -> Run:
            with self.telling():
                run = runs[place]
            return replace(run, notes=tuple(map(self.told, run.notes)), origin_path=self.told(run.origin_path))

        notes = (*map(self.told, recording.notes), *self.notes)
        told = SavedRuns(range(len(runs)), read, holds_made=isinstance(runs, HoldsMade) and runs.holds_made)
        return replace(recording, path=self.address, runs=told, notes=notes)


def far_place(address: str) -> FarPlace:
    """What is at `address`: a folder with all that is in it, a file, or a checkpoint by what TensorFlow calls it.

    Raises:
        TfdbgError: there is nothing, or it cannot be listed; or a package is missing.

    """
    there, _, name = address.rstrip("/").rpartition("/")
    if not address.partition("://")[2].strip("/"):
        raise TfdbgError(f"{address} names no file and no folder.", hint="Write, for example: gs://BUCKET/FOLDER")
    system, path = located(address)
    path = path.rstrip("/")
    try:
        listed = _listed(system, path)
    except TfdbgError:
        raise
    except Exception as error:  # whatever packages of stores and networks raise
        raise unreachable(address, error) from error
    files = _standing(listed, path.removesuffix(name), system.spoken)
    unsized = next((file for file in files.values() if file.size < 0), None)
    if unsized is not None:
        hint = "Copy it to this machine, and open the copy."
        message = f"{address}: how large {unsized.path} is is not told, and so it cannot be read."
        raise TfdbgError(message, hint=hint)
    folder = FarFolder(system, files)
    let_stand(folder.root, folder)
    try:
        folder.bring_small()
    except OSError as error:
        raise unreachable(address, error) from error
    lost = len(listed) - len(files)
    notes = (_ODD.format(count=lost),) if lost else ()
    return FarPlace(address, folder.root / system.spoken(name), f"{folder.root}/", f"{there}/", notes)


def _listed(system: FileSystem, path: str) -> list[FarFile]:
    """The files that are to stand here."""
    beside, _, name = path.rpartition("/")
    try:
        facts = system.facts(path)
    except FileNotFoundError:
        found = [entry for entry in system.beside(beside) if _name(entry).startswith(f"{name}.")]
        if not any(_name(entry) == name + ENDING for entry in found):
            raise
    else:
        if facts["type"] == "directory":
            found = system.within(path)
        elif name.endswith(ENDING):
            stem = name.removesuffix(ENDING)
            found = [entry for entry in system.beside(beside) if _name(entry).startswith(f"{stem}.")]
        else:
            found = [facts | {"name": path}]
    files = [entry for entry in found if entry["type"] == "file" and not str(entry["name"]).endswith("/")]
    require_usual_count(path, len(files))
    return [FarFile.of(entry) for entry in system.sized(files)]


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry["name"]).rpartition("/")[2]


def _standing(listed: Sequence[FarFile], beside: str, spoken: Callable[[str], str]) -> dict[str, FarFile]:
    """Where files stand here, by the part of their paths behind `beside`: no name leads out of the folder."""
    found: dict[str, FarFile] = {}
    for file in listed:
        name = spoken(file.path.removeprefix(beside))
        if all(map(_is_usual, name.split("/"))):
            found[name] = file
    folders = {folder for name in found for folder in _folders(name)}
    return {name: file for name, file in found.items() if name not in folders}


def _is_usual(part: str) -> bool:
    try:
        return part not in {"", ".", ".."} and "\0" not in part and len(os.fsencode(part)) <= _LONGEST_NAME
    except UnicodeEncodeError:
        return False


def _folders(name: str) -> Iterator[str]:
    at = name.find("/")
    while at >= 0:
        yield name[:at]
        at = name.find("/", at + 1)
