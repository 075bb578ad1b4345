"""The budget of a recording: when it is used up, the oldest runs give way to the next one."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.data_files import DataFiles
from tfdbg_cli.model.units import bytes_text

_HEADERS = 1 << 16  # bytes allowed per run beside its elements
# The tables whose rows go with a run. Texts and most contents stay, since later runs of the program use them, too.
_OF_A_RUN = ("tensors", "feeds", "summaries", "run_files")


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
            raise TfdbgError(
                f"The recording {self._root} has taken its {bytes_text(self._budget)}.",
                hint="Raise --budget, or let old runs give way.",
            )
        # In one transaction: if deleting all runs is not enough, none is deleted. Rows go before their files, since a
        # file without rows does no harm.
        self._index.execute("BEGIN IMMEDIATE")
        try:
            gone, files = self._drop_until(self._budget - wanted)
            self._index.execute("COMMIT")
        except BaseException:
            self._index.execute("ROLLBACK")
            raise
        self.dropped += gone
        for number in files:
            self._files.remove(number)

    def _taken(self) -> int:
        files = self._index.execute("SELECT coalesce(sum(size), 0) FROM files").fetchone()[0]
        pages, free, size = (self._pragma(name) for name in ("page_count", "freelist_count", "page_size"))
        return int(files) + (pages - free) * size  # SQLite reuses free pages

    def _pragma(self, name: str) -> int:
        return int(self._index.execute(f"PRAGMA {name}").fetchone()[0])

    def _drop_until(self, most: int) -> tuple[int, list[int]]:
        """Remove the oldest runs until what is taken is at most `most`: how many, and the files in which nothing is
        left.
        """
        gone, files = 0, list[int]()
        while (taken := self._taken()) > most:
            oldest = self._index.execute("SELECT min(id) FROM runs").fetchone()[0]
            if oldest is None:
                raise TfdbgError(
                    f"One run takes about {bytes_text(self._budget - most)}, beside {bytes_text(taken)} for what all"
                    f" runs share, such as graphs; together that is more than the {bytes_text(self._budget)} that the"
                    f" recording {self._root} may take.",
                    hint="Raise --budget, or record fewer tensors with --only.",
                )
            files += self._drop(oldest)
            gone += 1
        return gone, files

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
