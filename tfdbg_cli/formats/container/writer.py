"""Writing a recording: run after run, each of which is there whole, or not at all, whatever happens to the writer."""

from __future__ import annotations

import errno
import os
import platform
import sqlite3
import time
import uuid
from contextlib import ExitStack, suppress
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container.data_files import DataFiles
from tfdbg_cli.formats.container.ring import CrowdedFileError, GivenWay, Ring
from tfdbg_cli.formats.container.run_rows import RunRows, Selection, Written
from tfdbg_cli.formats.recording.json_fields import json_bytes
from tfdbg_cli.formats.recording.writer_lock import WriterLock
from tfdbg_cli.formats.recording.writing import PRIVATE_FOLDER, cannot_write, is_full, refuse_existing
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import valued_rows
from tfdbg_cli.process.file_limit import FileLimit, file_limit
from tfdbg_cli.process.own_descriptor import LostDescriptorError, descriptors_of, keep_for_ever
from tfdbg_cli.version import versions

_FILE_BYTES = 256 << 20  # a data file that has so many is complete
_FILES = 8  # at least so many of them fill a budget
_ROWS = 256  # bytes of the rows of a tensor
_PRIVATE_FILE = 0o600
_PRIMARY = 0xFF  # of an error code of SQLite, what its kinds have in common
_NO_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}


class LockedIndexError(TfdbgError):
    """Somebody held the index for longer than the writer waits: the run is lost, the next one need not be."""


class FullDiskError(TfdbgError):
    """There is no room on the disk for the run."""


class RecordingWriter:
    """A new recording in the folder `path`. Used by one thread at a time; `close` at the end.

    Args:
        path: a folder that is empty or not there.
        selection: which tensors have their values recorded, of the others there are statistics; None for all.
        compressed: whether elements are compressed (zlib): slower, and a slice is then read with the whole tensor.
        budget: bytes that the recording may take; 0 for no limit.
        ring: whether the oldest runs give way when the budget is used up; else the next one is refused.

    Raises:
        TfdbgError: there is something at `path`, or it cannot be written.

    """

    def __init__(
        self,
        path: Path,
        *,
        selection: Selection | None = None,
        compressed: bool = False,
        budget: int = 0,
        ring: bool = True,
    ) -> None:
        refuse_existing(path)
        self.path = path
        self._selection = selection
        # What was made of a recording that cannot begin is in the way of the next try.
        with file_limit() as limit, ExitStack() as undo:
            try:
                path.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
                undo.callback((path / layout.INDEX).unlink, missing_ok=True)
                self._index = _new_index(path / layout.INDEX)
                undo.callback(self._index.close)
                (path / layout.DATA).mkdir(PRIVATE_FOLDER)
                undo.callback((path / layout.DATA).rmdir)
                self._lock = WriterLock(path / layout.MANIFEST, json_bytes(_manifest()))
            except (OSError, sqlite3.Error) as error:
                raise _cannot_write(path, error, limit) from error
            undo.pop_all()
        self._held = descriptors_of(path / layout.INDEX)  # those of SQLite
        recording = uuid.uuid4().hex  # data files of another recording of the program may be laid out the same
        self._files = DataFiles(path, _FILE_BYTES, recording)
        self._rows = RunRows(self._index, self._files, compressed=compressed)
        self._ring = Ring(path, self._index, self._files, budget, ring)
        self._limited = budget > 0
        self._next = 1
        self.gone = False  # whether somebody was found to have taken the index away,
        self.folder_gone = False  # and the folder with it

    @property
    def moved(self) -> int:
        """How many bytes of elements the disk has taken; asked from any thread."""
        return self._files.moved.bytes

    @property
    def dropped(self) -> int:
        """How many runs gave way to newer ones."""
        return self._ring.dropped

    def write(self, run: Run) -> Written:
        """Write `run`; when this returns the run is on the disk.

        Raises:
            LockedIndexError: somebody holds the index; the recording is then as it was.
            TfdbgError: it cannot be written, or is larger than the budget; the recording is then as it was.

        """
        with file_limit() as limit:
            return self._committed(run, limit)

    def _committed(self, run: Run, limit: FileLimit) -> Written:
        try:
            nbytes = _about(run)
            self._ring.make_room(nbytes)
            if self._limited:  # files are the smaller, the sooner one of them can go
                self._files.most = min(_FILE_BYTES, self._ring.room // _FILES)
            try:
                written, given_way = self._write(run, nbytes)
            except CrowdedFileError:
                self._take_back()
                self._files.end_file()
                written, given_way = self._write(run, nbytes)
            self._require_held()
            self._index.execute("COMMIT")
        except BaseException as error:
            self._take_back()
            if isinstance(error, OSError | sqlite3.Error):
                self._look_for_folder()
                self.gone |= getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED
                if self.folder_gone:
                    raise _without_folder(self.path) from error
                raise _cannot_write(self.path, error, limit) from error
            raise
        self._rows.keep()
        self._next += 1
        try:
            self._ring.let_go(given_way)
        except OSError as error:
            raise _cannot_write(self.path, error, limit) from error
        return written

    def _write(self, run: Run, nbytes: int) -> tuple[Written, GivenWay]:
        """Write `run`, of about `nbytes`, in a transaction that stays open, with what gives way to it.

        Raises:
            CrowdedFileError, TfdbgError, OSError, sqlite3.Error: as `Ring.drop_for`.

        """
        self._require_held()
        self._index.execute("BEGIN IMMEDIATE")
        written = self._rows.write(run, self._next, self._selection)
        self._index.executemany("INSERT OR REPLACE INTO files VALUES (?, ?)", self._files.flush().items())
        return written, self._ring.drop_for(self._next, nbytes)

    def _take_back(self) -> None:
        """Leave the recording as it was before the run that failed."""
        with suppress(sqlite3.Error):  # a full disk: the journal puts it right when the index is opened next
            if self._index.in_transaction and not self._is_lost:
                self._index.execute("ROLLBACK")
        with suppress(OSError):  # what no row points to does not exist
            self._files.abandon()
        self._rows.forget()

    def close(self) -> None:
        """End the recording. What was written is there without it, too.

        Raises:
            TfdbgError: its last file cannot be completed.

        """
        self._look_for_folder()
        with file_limit() as limit:
            try:
                self._files.end_file()
            except OSError as error:
                raise _cannot_write(self.path, error, limit) from error
            finally:
                if self._is_lost:  # where SQLite would close them there are files of the program's
                    keep_for_ever(self._index)
                else:
                    self._index.close()
                self._lock.release()

    def _look_for_folder(self) -> None:
        """Find out whether somebody has renamed or removed the folder."""
        self.folder_gone = not self.path.is_dir()
        self.gone |= self.folder_gone

    @property
    def _is_lost(self) -> bool:
        """Whether the program has closed a file that SQLite holds."""
        return any(one.lost for one in self._held)

    def _require_held(self) -> None:
        """Raise LostDescriptorError where the program has closed a file that SQLite would write to."""
        if self._is_lost:
            raise LostDescriptorError


def _about(run: Run) -> int:
    """About how many bytes `run` takes."""
    store = run.tensors
    return _ROWS * len(store) + sum(store[place].nbytes or 0 for place in valued_rows(store))


def _new_index(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE_FILE))
    index = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    index.execute("PRAGMA auto_vacuum = INCREMENTAL")  # so that the index can shrink where there is a budget
    index.execute(f"PRAGMA application_id = {layout.APPLICATION_ID}")
    index.execute(f"PRAGMA user_version = {layout.VERSION}")
    index.execute("PRAGMA synchronous = NORMAL")
    index.executescript(f"BEGIN; {layout.SCHEMA} COMMIT;")
    return index


def _manifest() -> dict[str, object]:
    return {
        "format": layout.FORMAT,
        "version": layout.VERSION,
        "begun_us": time.time_ns() // 1000,
        "writer": {"host": platform.node(), "process": os.getpid()},
        "versions": versions(),
    }


def _without_folder(path: Path) -> TfdbgError:
    said = f"Somebody renamed or removed the folder {path} while runs were recorded in it."
    hint = "Under a new name it has those that were written before; begin the next recording in a folder that stays."
    return TfdbgError(said, hint=hint, exit_code=2)


def _cannot_write(path: Path, error: OSError | sqlite3.Error, limit: FileLimit) -> TfdbgError:
    code = getattr(error, "sqlite_errorcode", 0)
    if code & _PRIMARY in _NO_ROOM and limit.met:  # SQLite does not tell why
        return cannot_write(path, OSError(errno.EFBIG, os.strerror(errno.EFBIG)))
    if code == sqlite3.SQLITE_FULL or is_full(error):
        return FullDiskError(
            f"The disk is full: the run was not recorded in {path}.",
            hint="Make room, record somewhere else, or record fewer tensors.",
            exit_code=2,
        )
    if isinstance(error, LostDescriptorError):
        said = f"The program has closed the files of the recording in {path}, as os.closerange does."
        return TfdbgError(said, hint="What was written before is there.", exit_code=2)
    if isinstance(error, OSError):
        return cannot_write(path, error)
    if code & _PRIMARY == sqlite3.SQLITE_BUSY:
        said = f"A run was not recorded in {path}: somebody who reads there was stopped, and holds the index."
        return LockedIndexError(said, hint="End that program, or let it go on.", exit_code=2)
    if code == sqlite3.SQLITE_READONLY_DBMOVED:
        said = f"Somebody removed, moved or replaced the index of {path} while it was written."
        return TfdbgError(said, hint="What was recorded before went with it.", exit_code=2)
    return TfdbgError(f"Cannot write the index of {path}: {error}.", exit_code=2)
