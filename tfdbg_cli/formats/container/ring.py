"""The budget of a recording: when it is used up, the oldest runs give way to the next one."""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container.data_files import DataFiles
from tfdbg_cli.formats.recording.writing import free_disk
from tfdbg_cli.model.units import bytes_text

_BESIDE = 1 << 16  # the most that a run is expected to take beyond what is known of it before, as headers
_LAST = 8  # runs that tell how much it is
# The tables whose rows go with a run. Texts and most contents stay, since later runs of the program use them, too.
_OF_A_RUN = ("tensors", "feeds", "summaries", "run_files")
# Files are filled one after the other: no run lies in one with a smaller number than those of the runs before it. So
# one row tells what is asked of all, however many runs there are.
_CROWDED = (
    "SELECT 1 FROM run_files WHERE run = ? AND file ="
    " (SELECT file FROM run_files WHERE run < ? ORDER BY run DESC, file DESC LIMIT 1)"
)
_FIRST_IN_USE = "SELECT file FROM run_files ORDER BY run, file LIMIT 1"


@dataclass(frozen=True, slots=True)
class GivenWay:
    """How many runs gave way to a new one, and the numbers of the data files in which nothing is left."""

    runs: int
    files: Sequence[int]


class CrowdedFileError(TfdbgError):
    """The older runs would give way, but a file of theirs holds the new one, too: it needs a file of its own."""


class Ring:
    """Keeps the recording in `root` within `budget` bytes (0: no limit), with `drops` by deleting its oldest runs."""

    def __init__(self, root: Path, index: sqlite3.Connection, files: DataFiles, budget: int, drops: bool) -> None:
        self._root = root
        self._index = index
        self._files = files
        self._budget = budget
        self._drops = drops
        self._before: int | None = None  # bytes taken before the run that is written now; None for the first run
        self._beside = deque[int](maxlen=_LAST)  # what the last runs took beyond what was known
        self._manifest = (root / layout.MANIFEST).stat().st_size
        self.dropped = 0

    @property
    def room(self) -> int:
        """Bytes that the budget leaves for data files, beside the index as it is now."""
        return max(0, self._budget - self._beside_data())

    def make_room(self, nbytes: int) -> None:
        """Make sure that `nbytes` more fit into the budget, if need be by deleting the oldest runs.

        They give way for what the new run is expected to take beside that, too; but it is not refused for it. How
        much it took shows when it is written: then there is `drop_for`.

        Raises:
            TfdbgError: the budget is used up and no runs are dropped, or a single run is more than the budget.
            OSError: a file cannot be removed.
            sqlite3.Error: the index cannot be read or written.

        """
        if not self._budget:
            return
        most, taken = self._budget - nbytes, self._taken()
        if not self._drops and taken > most and self._oldest() is not None:
            raise self._full()
        wanted = most - max(self._beside, default=_BESIDE) if self._drops else most
        if taken > wanted:
            # In one transaction: if deleting all runs is not enough, none is deleted. Rows go before their files,
            # since a file without rows does no harm.
            self._index.execute("BEGIN IMMEDIATE")
            try:
                given_way = self._drop_until(wanted, nbytes, at_least=most)
                self._index.execute("COMMIT")
            except BaseException:
                self._index.execute("ROLLBACK")
                raise
            self.let_go(given_way)
        self._before = None if self._oldest() is None and not self.dropped else self._taken()

    def drop_for(self, newest: int, nbytes: int) -> GivenWay:
        """Drop older runs where the run `newest`, of about `nbytes`, took more than that: what all runs share is new.

        Its rows and those that go are in the open transaction; once it is committed `let_go` is to be called.

        Raises:
            CrowdedFileError: it would help to write the run into a new file, and call this again.
            TfdbgError, OSError, sqlite3.Error: as `make_room`.

        """
        if not self._budget:
            return GivenWay(0, ())
        taken = self._taken()
        if self._before is not None:
            self._beside.append(min(max(0, taken - self._before - nbytes), _BESIDE))
        if taken <= self._budget:
            return GivenWay(0, ())
        if not self._drops and self._oldest() != newest:
            raise self._full()
        crowded = self._index.execute(_CROWDED, (newest, newest)).fetchone() is not None
        try:
            return self._drop_until(self._budget, nbytes, newest)
        except TfdbgError as error:
            raise CrowdedFileError(error.message, hint=error.hint) if crowded else error from None

    def let_go(self, given_way: GivenWay) -> None:
        """Count the runs that gave way, and remove their files. Raises OSError and sqlite3.Error."""
        self.dropped += given_way.runs
        for number in given_way.files:
            self._files.remove(number)
        self._give_pages_back()

    def _give_pages_back(self) -> None:
        """Shrink the index where pages that are free in it, and on the disk all the same, are beyond the budget."""
        free = self._pragma("freelist_count") if self._budget else 0
        if not free:
            return
        size = self._pragma("page_size")
        beyond = self._taken() + free * size - self._budget
        for _ in range(min(free, -(-beyond // size))):
            self._index.execute("PRAGMA incremental_vacuum(1)")  # Python's sqlite3 makes one step of one for more

    def _full(self) -> TfdbgError:
        return TfdbgError(
            f"The recording {self._root} has taken its {bytes_text(self._budget)}.",
            hint="Raise --budget, or let old runs give way.",
        )

    def _too_small(self, nbytes: int, shared: int | None, free: int) -> TfdbgError:
        """The error for a run of `nbytes` that does not fit beside what all runs share, of whatever size (None).

        `free` bytes of the disk may be taken by it.
        """
        beside = "" if shared is None else f"{bytes_text(shared)} for "
        no_room = f"Its disk has no room for one ({bytes_text(free)} are free): make some, record somewhere else"
        return TfdbgError(
            f"One run takes about {bytes_text(nbytes)}, beside {beside}what all runs share, such as graphs; together"
            f" that is more than the {bytes_text(self._budget)} that the recording {self._root} may take.",
            hint=f"{'Raise --budget' if nbytes < free else no_room}, or record fewer tensors with --only.",
        )

    def _oldest(self) -> int | None:
        oldest: int | None = self._index.execute("SELECT min(id) FROM runs").fetchone()[0]
        return oldest

    def _taken(self) -> int:
        files = self._index.execute("SELECT coalesce(sum(size), 0) FROM files").fetchone()[0]
        return int(files) + self._beside_data()

    def _beside_data(self) -> int:
        """Bytes of the index and the manifest."""
        pages, free, size = (self._pragma(name) for name in ("page_count", "freelist_count", "page_size"))
        return self._manifest + (pages - free) * size  # SQLite reuses free pages

    def _pragma(self, name: str) -> int:
        return int(self._index.execute(f"PRAGMA {name}").fetchone()[0])

    def _drop_until(self, most: int, nbytes: int, newest: int | None = None, at_least: int | None = None) -> GivenWay:
        """Remove the oldest runs until what is taken is at most `most`, but not the `newest`, which took `nbytes`.

        Without a `newest` these are what the next run is going to take. Where no run is left `at_least` is enough.

        Raises:
            TfdbgError: so much is not to be had.

        """
        gone, files = 0, list[int]()
        while (taken := self._taken()) > most:
            oldest = self._oldest()
            if oldest is None and at_least is not None and taken <= at_least:
                break
            if oldest is None or oldest == newest:
                known = gone > 0 or newest is not None
                free = free_disk(self._root) + (0 if newest is None else nbytes)  # the newest is on the disk already
                raise self._too_small(nbytes, taken - (0 if newest is None else nbytes) if known else None, free)
            files += self._drop(oldest)
            gone += 1
        return GivenWay(gone, files)

    def _drop(self, run: int) -> list[int]:
        """Remove the rows of `run`, and those of files in which nothing is left: the numbers of these."""
        for table in _OF_A_RUN:
            self._index.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
        (description,) = self._index.execute("SELECT description FROM runs WHERE id = ?", (run,)).fetchone()
        for place in json.loads(description).get("columns", ())[1:]:  # where the elements of this run lay
            self._index.execute("DELETE FROM contents WHERE id = ?", (place,))
        self._index.execute("DELETE FROM runs WHERE id = ?", (run,))
        first = self._index.execute(_FIRST_IN_USE).fetchone()
        free, of = ("WHERE id < ?", first) if first else ("", ())
        numbers = self._index.execute(f"SELECT id FROM files {free}", of).fetchall()
        self._index.execute(f"DELETE FROM files {free}", of)
        return [int(number) for (number,) in numbers]
