"""A recording of many runs: another one takes no more work than it took among few."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container.data_files import DataFiles
from tfdbg_cli.formats.container.ring import CrowdedFileError, Ring

_BUDGET = 1 << 30  # bytes
_HALF = _BUDGET // 2


class _Full:
    """A recording that has used up its budget, with the runs of each file, and the bytes of these."""

    def __init__(self, path: Path, files: Mapping[int, range], sizes: Mapping[int, int]) -> None:
        path.mkdir()
        (path / layout.MANIFEST).write_text("{}")
        self.index = sqlite3.connect(":memory:", isolation_level=None)
        self.index.executescript(layout.SCHEMA)
        places = sorted((run, file) for file, runs in files.items() for run in runs)
        runs = [(run, run, 1, 1, 1, 1, 1, "{}") for run in sorted({run for run, _ in places})]
        self.index.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", runs)
        self.index.executemany("INSERT INTO run_files VALUES (?, ?)", places)
        self.index.executemany("INSERT INTO files VALUES (?, ?)", sizes.items())
        self.newest = runs[-1][0]
        self.ring = Ring(path, self.index, DataFiles(path, 1 << 20, ""), _BUDGET, drops=True)
        self.done = 0  # instructions of SQLite since then
        self.index.set_progress_handler(self._count, 1)

    def _count(self) -> int:
        self.done += 1
        return 0


def _with_a_large_first(path: Path, runs: int) -> _Full:
    """A recording whose first run, once it goes, leaves half of the budget."""
    files = {1: range(1, 2), 2: range(2, runs // 2), 3: range(runs // 2, runs + 1)}
    return _Full(path / str(runs), files, {1: _HALF, 2: _HALF // 2, 3: _HALF // 2})


def test_a_run_that_gives_way_is_deleted_without_a_look_at_all_others(tmp_path: Path) -> None:
    """A blind test: with 100,000 runs each new one took a look at all of them, 30 ms in the way of the training."""
    few, many = (_with_a_large_first(tmp_path, runs) for runs in (100, 10_000))
    for full in (few, many):
        full.ring.make_room(0)
        assert full.ring.dropped == 1
    assert many.done < 2 * few.done


def test_whether_an_older_run_lies_in_the_file_of_a_new_one_is_told_without_a_look_at_all(tmp_path: Path) -> None:
    few, many = (_with_a_large_first(tmp_path, runs) for runs in (100, 10_000))
    for full in (few, many):
        assert full.ring.drop_for(full.newest, 0).runs == 1
    assert many.done < 2 * few.done


def test_only_files_in_which_nothing_is_left_go(tmp_path: Path) -> None:
    """Run 6 begins in one file and ends in the next, which run 7 is in, too."""
    files = {1: range(1, 4), 2: range(4, 7), 3: range(6, 10), 4: range(10, 11)}
    full = _Full(tmp_path / "r", files, dict.fromkeys(files, _BUDGET // 4))
    full.ring.make_room(_BUDGET // 4)  # beside the files the index takes a little, so one file is not enough
    assert full.index.execute("SELECT id FROM files").fetchall() == [(3,), (4,)]
    assert full.index.execute("SELECT min(id) FROM runs").fetchone() == (7,)


@pytest.mark.parametrize(("first", "error"), [(2, CrowdedFileError), (3, TfdbgError)])
def test_a_new_run_in_a_file_with_older_ones_needs_its_own(tmp_path: Path, first: int, error: type) -> None:
    """All others go, and it takes too much nevertheless; only where they share its file one of its own would help."""
    full = _Full(tmp_path / "r", {1: range(1, 2), 2: range(first, 4)}, {1: 1, 2: 2 * _BUDGET})
    with pytest.raises(TfdbgError, match="One run takes") as caught:
        full.ring.drop_for(3, 0)
    assert type(caught.value) is error
