"""Folders that appear whole or not at all, and what is said when they cannot be written."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.units import bytes_text

PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_FULL = {errno.ENOSPC, errno.EDQUOT}
_NOT_OURS = {errno.EACCES, errno.EPERM, errno.EROFS}

_UNFINISHED = re.compile(r"\.(partial|replaced)-\d+\Z")


def is_unfinished(name: str) -> bool:
    """Whether `name` is that of a folder beside the one of `whole_directory`, left behind by a killed process."""
    return _UNFINISHED.search(name) is not None


def free_disk(directory: Path) -> int:
    """The free bytes on the disk of `directory`, which need not exist yet.

    Files of a file system in memory count as memory of the program's container: they take no more than is free there.
    """
    place = directory
    while not place.exists() and place != place.parent:
        place = place.parent
    import shutil  # readers, which need a word from here, start without it

    from tfdbg_cli.process.free_memory import free_memory, lies_in_memory

    free = shutil.disk_usage(place).free
    return min(free, free_memory()) if lies_in_memory(place) else free


def require_room(nbytes: int, directory: Path, disk_budget: int) -> None:
    """Refuse to write `nbytes` if that is more than `disk_budget` (0: half of what is free at `directory`).

    Raises:
        TfdbgError: it is more.

    """
    DiskRoom.at(directory, disk_budget).require(nbytes)


@dataclass(frozen=True)
class DiskRoom:
    """What a file or folder at `path` may take: `budget` bytes, of the `free` ones."""

    path: Path
    budget: int
    free: int

    @classmethod
    def at(cls, path: Path, disk_budget: int) -> DiskRoom:
        """That of `path`, which need not exist yet; 0 as `disk_budget` stands for half of what is free."""
        free = free_disk(path)
        return cls(path, min(disk_budget, free) if disk_budget else free // 2, free)

    def require(self, nbytes: int) -> None:
        """Refuse to write `nbytes` if that is more.

        Raises:
            TfdbgError: it is more.

        """
        if nbytes <= self.budget:
            return
        raise TfdbgError(
            f"{self.path} would take about {bytes_text(nbytes)}, more than the {bytes_text(self.budget)} of disk that"
            f" tfdbg may use ({bytes_text(self.free)} are free).",
            hint="Save it on another disk, raise the budget with `config set disk_budget`, or add --force.",
        )


@contextmanager
def whole_directory(target: Path) -> Iterator[Path]:
    """A context with a new folder to write into, which is renamed to `target` when the context ends without an error.

    Its permissions are private, since it holds what a program was trained with.

    On an error it is removed. An existing folder `target` is replaced only at the end, and removed only when the new
    one is there. A killed process leaves the new one behind, whose name ends in `.partial-` and a number, or the old
    one, whose name ends in `.replaced-` and a number; readers of what lies around them ignore both.

    Raises:
        TfdbgError: the disk is full, or the place cannot be written to.

    """
    import shutil

    from tfdbg_cli.process.file_limit import file_limit

    partial = _unused(target, "partial")  # no other thread writes there, or has
    try:
        partial.mkdir(PRIVATE_FOLDER, parents=True)
        with file_limit():
            yield partial
        _make_private(partial)
        if target.is_symlink() or target.is_file():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        _put_in_place(partial, target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _unused(target: Path, why: str) -> Path:
    """A name beside `target` that nobody uses."""
    return target.with_name(f"{target.name}.{why}-{int.from_bytes(os.urandom(6))}")


def _put_in_place(folder: Path, target: Path) -> None:
    """Call `folder` by the name `target`; a folder that is there keeps a name until it has, and is removed then.

    Raises:
        OSError: it cannot be renamed; what was at `target` is there again.

    """
    import shutil

    if not target.is_dir():
        folder.rename(target)
        return
    old = _unused(target, "replaced")
    target.rename(old)
    try:
        folder.rename(target)
    except BaseException:
        with suppress(OSError):  # another thread may have put its own there
            old.rename(target)
        raise
    finally:
        if target.is_dir():
            shutil.rmtree(old, ignore_errors=True)


def _make_private(folder: Path) -> None:
    for place, folders, files in os.walk(folder):
        for names, mode in ((folders, PRIVATE_FOLDER), (files, _PRIVATE_FILE)):
            for name in names:
                os.chmod(os.path.join(place, name), mode)  # noqa: PTH101, PTH118 - there may be a million of them


def is_full(error: BaseException) -> bool:
    """Whether `error` says that there is no room."""
    return isinstance(error, OSError) and error.errno in _FULL


def cannot_write(target: Path, error: OSError) -> TfdbgError:
    """The TfdbgError to raise for `error`, which occurred while writing `target`."""
    if is_full(error):
        return TfdbgError(
            f"The disk is full: {target} was not saved.",
            hint="Make room, save somewhere else, or save fewer tensors.",
            exit_code=2,
        )
    hint = "Choose a folder that you may write to." if error.errno in _NOT_OURS else "Choose another folder."
    if error.errno == errno.EFBIG:
        hint = (
            "No file may grow that large here: `ulimit -f` tells the limit of the shell; a program may set its own."
            " Raise it, or save less."
        )
    return TfdbgError(f"Cannot write {target}: {error.strerror or error}.", hint=hint)


def refuse_existing(directory: Path) -> None:
    """Refuse to write where something is already; an empty folder is fine.

    Raises:
        TfdbgError: there is something at `directory`, or nobody may look.

    """
    try:
        if directory.is_dir() and not any(directory.iterdir()):
            return
        taken = directory.exists() or directory.is_symlink()
    except OSError as error:
        raise cannot_write(directory, error) from error
    if taken:
        raise TfdbgError(
            f"There is something at {directory} already.", hint="Choose a folder that is empty or does not exist."
        )
