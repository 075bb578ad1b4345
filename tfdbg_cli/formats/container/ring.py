"""The budget of a recording: when it is used up, the oldest runs give way to the next one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.data_files import DataFiles
from tfdbg_cli.model.units import bytes_text

_HEADERS = 1 << 16  # bytes allowed per run beside its elements
# The tables whose rows go with a run. Texts and most contents stay, since later runs of the program use them, too.
_OF_A_RUN = ("tensors", "feeds", "summaries", "run_files")


@dataclass(frozen=True, slots=True)
class GivenWay:
    """How many runs gave way to a new one, and the numbers of the data files in which nothing is left."""

    runs: int
    files: Sequence[int]


class Ring:
    """Keeps the recording in `root` within `budget` bytes (0: no limit), with `drops` by deleting its oldest runs."""

    def __init__(self, root: Path, index: sqlite3.Connection, files: DataFiles, budget: int, drops: bool) -> None:
        self._root = root
        self._index = index
        self._files = files
        self._budget = budget
        self._drops = drops
        self.dropped = 0

    def make_room(self, nbytes: int) -> None:
        """Make sure that `nbytes` more fit into the budget, if need be by deleting the oldest runs.

        Raises:
            TfdbgError: the budget is used up and no runs are dropped, or a single run is more than the budget.
            OSError: a file cannot be removed.
            sqlite3.Error: the index cannot be read or written.

        """
        if not self._budget:
            return
        wanted = nbytes + _HEADERS
        if self._taken() + wanted <= self._budget:
            return
        if not self._drops and self._taken() > _HEADERS:
            raise self._full()
        # In one transaction: if deleting all runs is not enough, none is deleted. Rows go before their files, since a
        # file without rows does no harm.
        self._index.execute("BEGIN IMMEDIATE")
        try:
            given_way = self._drop_until(self._budget - wanted, wanted)
            self._index.execute("COMMIT")
        except BaseException:
            self._index.execute("ROLLBACK")
            raise
        self.let_go(given_way)

    def drop_for(self, newest: int, nbytes: int) -> GivenWay:
        """Drop older runs where the run `newest`, of about `nbytes`, took more than that: what all runs share is new.

        Its rows and those that go are in the open transaction; once it is committed `let_go` is to be called.

        Raises:
            TfdbgError, OSError, sqlite3.Error: as `make_room`.

        """
        if not self._budget or self._taken() <= self._budget:
            return GivenWay(0, ())
        if not self._drops and self._oldest() != newest:
            raise self._full()
        return self._drop_until(self._budget, nbytes, newest)

    def let_go(self, given_way: GivenWay) -> None:
        """Count the runs that gave way, and remove their files."""
        self.dropped += given_way.runs
        for number in given_way.files:
            self._files.remove(number)

    def _full(self) -> TfdbgError:
        return TfdbgError(
            f"The recording {self._root} has taken its {bytes_text(self._budget)}.",
            hint="Raise --budget, or let old runs give way.",
        )

    def _too_small(self, nbytes: int, shared: int | None) -> TfdbgError:
        """The error for a run of `nbytes` that does not fit beside what all runs share, of whatever size (None)."""
        beside = "" if shared is None else f"{bytes_text(shared)} for "
        return TfdbgError(
            f"One run takes about {bytes_text(nbytes)}, beside {beside}what all runs share, such as graphs; together"
            f" that is more than the {bytes_text(self._budget)} that the recording {self._root} may take.",
            hint="Raise --budget, or record fewer tensors with --only.",
        )

    def _oldest(self) -> int | None:
        oldest: int | None = self._index.execute("SELECT min(id) FROM runs").fetchone()[0]
        return oldest

    def _taken(self) -> int:
        files = self._index.execute("SELECT coalesce(sum(size), 0) FROM files").fetchone()[0]
        pages, free, size = (self._pragma(name) for name in ("page_count", "freelist_count", "page_size"))
        return int(files) + (pages - free) * size  # SQLite reuses free pages

    def _pragma(self, name: str) -> int:
        return int(self._index.execute(f"PRAGMA {name}").fetchone()[0])

    def _drop_until(self, most: int, nbytes: int, newest: int | None = None) -> GivenWay:
        """Remove the oldest runs until what is taken is at most `most`, but not the `newest`, which took `nbytes`.

        Without a `newest` these are what the next run is going to take.
        """
        gone, files = 0, list[int]()
        while (taken := self._taken()) > most:
            oldest = self._oldest()
            if oldest is None or oldest == newest:
                known = gone > 0 or newest is not None
                raise self._too_small(nbytes, taken - (0 if newest is None else nbytes) if known else None)
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
        free = self._index.execute("SELECT id FROM files WHERE id NOT IN (SELECT file FROM run_files)").fetchall()
        self._index.executemany("DELETE FROM files WHERE id = ?", free)
        return [int(number) for (number,) in free]
