"""Reading the index of a recording, which may be anybody's: it is a database of ours, or it is refused."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.recording.regular_file import opened
from tfdbg_cli.model.values import Array

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

COPY_INDEX = "Copy index.sqlite again, or record the program again: only the index tells what lies where in data/."
"""What to do about an index of which nothing can be read."""
_BUSY_S = 5.0  # a writer takes milliseconds to commit a run
_MOST_CONTENT = (1 << 31) - 1  # protobuf's own limit
_AT_ONCE = 500  # numbers asked for in one question
_OF_NUMBERS = b"0123456789-,"
# SQL of a database could do more than be read: triggers, views and virtual tables of a file of ours do not exist.
# The indexes that SQLite makes by itself have no SQL.
_KINDS = "SELECT type, name, substr(sql, 1, 13) FROM sqlite_master WHERE type <> 'index' OR sql IS NOT NULL"


class DamagedIndexError(ValueError):
    """The index holds what no recording has; the message is a sentence."""


class Index:
    """The index in the recording `root`. Questions come from any thread.

    Raises:
        TfdbgError: it is no index of a recording, or cannot be read.

    """

    def __init__(self, root: Path) -> None:
        self._lock = threading.Lock()
        self._texts: dict[int, str] = {}
        self._path = path = root / layout.INDEX
        try:
            with opened(path) as (file, _):
                head = file.read(16)
                file.fileno()  # SQLite opens it by its name: all of it has to be there
            if head != b"SQLite format 3\0":
                said = f"The index {path} is damaged: at offset 0 it is no SQLite database."
                raise TfdbgError(said, hint=COPY_INDEX)
            self._database, self._copy = _connected(path)
            self._check(path)
        except OSError as error:
            from tfdbg_cli.formats.recording.unreadable import cannot_read, is_refused  # to open one nobody needs it

            said = f"The index {path} cannot be read: {error.strerror or error}."
            raise TfdbgError(said, hint=cannot_read(path, error).hint if is_refused(error) else COPY_INDEX) from error
        except sqlite3.Error as error:
            raise TfdbgError(f"The index {path} is damaged: {error}.", hint=COPY_INDEX) from error
        except DamagedIndexError as error:
            raise TfdbgError(f"{path} cannot be read. {error}", hint=COPY_INDEX) from error

    def _check(self, path: Path) -> None:
        self._restrict()
        if self.one("PRAGMA application_id") != (layout.APPLICATION_ID,):
            raise TfdbgError(f"The database {path} is no index of a recording.")
        (version,) = self.one("PRAGMA user_version") or (0,)
        layout.require_known(version, path.parent)
        found = set(self.rows(_KINDS))
        if found != {("table", name, "CREATE TABLE ") for name in layout.TABLES}:
            said = f"The index {path} is damaged: its tables are not those of a recording."
            raise TfdbgError(said, hint=COPY_INDEX)

    def _restrict(self) -> None:
        """Have SQLite do nothing but read, and trust nothing in the file."""
        self._database.execute("PRAGMA trusted_schema = OFF")
        self._database.execute("PRAGMA cell_size_check = ON")
        self._database.execute("PRAGMA query_only = ON")
        self._database.execute("PRAGMA mmap_size = 0")

    def rows(self, question: str, *values: int | bytes) -> list[tuple[Any, ...]]:
        """The rows that answer `question`.

        Raises:
            DamagedIndexError: the database is damaged there.

        """
        try:
            with self._lock:
                return self._answered(question, values)
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
            raise DamagedIndexError(f"The index is damaged: {error}.") from error
        except OSError as error:
            raise DamagedIndexError(f"The index cannot be read: {error.strerror or error}.") from error

    def _answered(self, question: str, values: tuple[int | bytes, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(question, values).fetchall()
        except sqlite3.OperationalError as error:
            code: int = getattr(error, "sqlite_errorcode", 0)  # an error of Python's binding has none
            if code & 0xFF != sqlite3.SQLITE_READONLY:
                raise
        # The writer was killed meanwhile. To put its journal right takes another way to open the index.
        self._database.close()
        self._database, self._copy = _connected(self._path)
        self._restrict()
        return self._database.execute(question, values).fetchall()

    def one(self, question: str, *values: int | bytes) -> tuple[Any, ...] | None:
        """The first row that answers `question`, or None. Raises DamagedIndexError."""
        found = self.rows(question, *values)
        return found[0] if found else None

    def checked(self) -> str:
        """What SQLite finds wrong first when it reads every page; empty where it finds nothing."""
        try:
            ((found,), *_) = self.rows("PRAGMA quick_check(1)")
        except DamagedIndexError as error:
            return str(error)
        if found == "ok":
            return ""
        place = " ".join(str(found).removeprefix("*** in database main ***").split())
        return f"The index is damaged: {place}."

    def listed(self, question: str, *names: str) -> list[Array]:
        """The numbers that answer `question`, in its order: of each of `names` of its columns an array.

        SQLite puts them into one text each, which takes a fraction of the time and the memory of a million rows; all
        columns together take little more than one.

        Raises:
            DamagedIndexError: the database is damaged there, or a number is none.

        """
        texts = ", ".join(f"CAST(group_concat({name}) AS BLOB)" for name in names)
        (found,) = self.rows(f"SELECT {texts} FROM ({question})")
        return [_numbers(text) for text in found]

    def texts_from(self, first: int, count: int) -> list[str] | None:
        """The `count` texts with the numbers from `first` on; None where they have to be looked up one by one."""
        asked = "SELECT text FROM texts WHERE id >= ? AND id < ? ORDER BY id"
        question = f"SELECT CAST(group_concat(text, char(0)) AS BLOB) FROM ({asked})"
        (joined,) = self.one(question, first, first + count) or (None,)
        try:
            texts = joined.decode("utf-8", "surrogatepass").split("\0")
        except (UnicodeDecodeError, AttributeError):
            return None
        return texts if len(texts) == count else None

    def texts(self, numbers: set[int]) -> dict[int, str]:
        """Texts by number, at least those with these numbers that there are. Raises DamagedIndexError."""
        self._texts.update(self.looked_up([number for number in numbers if number not in self._texts]))
        return self._texts

    def looked_up(self, numbers: list[int]) -> dict[int, str]:
        """The texts with these numbers that there are; they are not kept. Raises DamagedIndexError."""
        found: dict[int, str] = {}
        for part in _parts(numbers):
            marks = ",".join("?" * len(part))
            # As bytes: a name may hold what is no Unicode to Python's binding.
            for number, text in self.rows(f"SELECT id, CAST(text AS BLOB) FROM texts WHERE id IN ({marks})", *part):
                with suppress(UnicodeDecodeError, AttributeError):
                    found[number] = text.decode("utf-8", "surrogatepass")
        return found

    def number(self, text: str) -> int | None:
        """The number of `text`, or None. Raises DamagedIndexError."""
        found = self.one("SELECT id FROM texts WHERE text = CAST(? AS TEXT)", text.encode("utf-8", "surrogatepass"))
        return found[0] if found is not None and isinstance(found[0], int) else None

    def content(self, number: int) -> bytes:
        """The content with this number, as it was written. Raises DamagedIndexError."""
        found = self.one("SELECT sha256, size, zlib FROM contents WHERE id = ?", number)
        if found is None or not isinstance(found[1], int) or not isinstance(found[2], bytes):
            raise DamagedIndexError(f"The index is damaged: content {number} is not there.")
        sha256, size, packed = found
        if size < 0:  # to zlib a limit of 0 is none
            raise DamagedIndexError(f"The index is damaged: content {number} is said to have {size} bytes.")
        try:
            content = zlib.decompressobj().decompress(packed, min(size, _MOST_CONTENT) + 1)
        except zlib.error as error:
            raise DamagedIndexError(f"The index is damaged: content {number} cannot be unpacked.") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise DamagedIndexError(f"The index is damaged: content {number} is not what was written.")
        return content


def _numbers(text: bytes | None) -> Array:
    """The numbers that `text` is made of. Raises DamagedIndexError."""
    if text is None:
        return np.empty(0, np.int64)
    numbers = np.empty(0, np.int64)
    if not text.translate(None, _OF_NUMBERS):
        with suppress(ValueError, DeprecationWarning):  # it ends where something is no number
            numbers = np.fromstring(text, np.int64, sep=",")
    if len(numbers) != text.count(b",") + 1:
        raise DamagedIndexError("The index is damaged: what should be a number is none.")
    return numbers


def _parts(numbers: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(numbers), _AT_ONCE):
        yield numbers[start : start + _AT_ONCE]


def _connected(path: Path) -> tuple[sqlite3.Connection, TemporaryDirectory[str] | None]:
    """The database at `path`, and the folder of a copy if it took one.

    A killed writer leaves a journal, with which SQLite puts the index right: in its place if we may write there, else
    in a copy.
    """
    journal = path.with_name(f"{path.name}-journal")
    if not os.path.lexists(journal):
        return _open(path, "ro"), None
    with opened(journal) as (file, _):
        file.fileno()
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return _open(path, "rw"), None
    import shutil  # most recordings are complete
    import tempfile

    copy = tempfile.TemporaryDirectory(prefix="tfdbg-")
    for part in (path, journal):
        shutil.copyfile(part, Path(copy.name, part.name))
    return _open(Path(copy.name, path.name), "rw"), copy


def _open(path: Path, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
