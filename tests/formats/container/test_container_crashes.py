"""A recording whose writer is killed, or whose disk is full: every run that was finished opens."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.sample_run import sample_run

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import data_files
from tfdbg_cli.formats.container import writer as writer_module
from tfdbg_cli.formats.container.index import Index
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.values import NoValue

# Some are long enough to be written past the page cache.
_LENGTHS = [1000 + 37 * place + 40_000 * (place % 7 == 3) for place in range(20)]
_WRITER = """
import itertools, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
import numpy as np
from dataclasses import replace
from support.sample_run import sample_run
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.names import TensorName

def run(number):
    values = [np.full(length, number, np.float32) for length in {lengths!r}]
    rows = [describe(TensorName(f"n{{place}}", 0), value, device="", op_type="Const", dtype="float32")
            for place, value in enumerate(values)]
    whole = sample_run(tensors=MemoryTensorStore(rows, values))
    return replace(whole, call=replace(whole.call, number=number))

writer = RecordingWriter(Path(sys.argv[1]), budget=int(sys.argv[2]))
print(0, flush=True)
for number in itertools.count(1):
    writer.write(run(number))
    print(number, flush=True)
"""


def _killed(path: Path, seconds: float, budget: int = 0) -> int:
    """Have a process write a recording at `path` and kill it; how many runs it said that it had written."""
    script = _WRITER.format(tests=str(Path(__file__).parents[2]), lengths=_LENGTHS)
    words = [sys.executable, "-c", script, str(path), str(budget)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        said = process.stdout.read().split()
    return int(said[-1]) if said else 0


def _check(path: Path, finished: int, *, ring: bool = False) -> None:
    try:
        runs = open_path(path).runs
    except TfdbgError as error:
        assert "was finished" in error.message and not finished
        return
    numbers = [run.call.number for run in runs]
    # One more may be there: killed between the commit and the word.
    assert numbers[-1:] in ([finished], [finished + 1]) or (not finished and not numbers)
    assert (
        numbers == list(range(numbers[0] if ring else 1, len(numbers) + (numbers[0] if ring else 1))) or not numbers
    )
    for run in runs:
        for place in range(len(run.tensors)):
            value = run.tensors.value(place)
            assert not isinstance(value, NoValue)
            assert value.shape == (_LENGTHS[place],) and (value == run.call.number).all()


def _kill_at_random(tmp_path: Path, times: int) -> None:
    chance = random.Random(times)
    for turn in range(times):
        path, ring = tmp_path / str(turn), turn % 3 == 2
        finished = _killed(path, chance.random() * 0.4, 2_000_000 if ring else 0)
        _check(path, finished, ring=ring)
        shutil.rmtree(path)


def test_after_a_kill_at_any_moment_every_finished_run_opens(tmp_path: Path) -> None:
    _kill_at_random(tmp_path, 6)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_after_many_kills_every_finished_run_opens(tmp_path: Path) -> None:
    _kill_at_random(tmp_path, 200)


def test_a_journal_is_made_good_where_nobody_may_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r"
    writer = RecordingWriter(path)
    writer.write(sample_run())
    before = (path / "index.sqlite").read_bytes()
    # As a killed writer leaves it: pages changed, with those of before in the journal.
    writer._index.execute("PRAGMA cache_size = 1")
    writer._index.execute("PRAGMA cache_spill = 1")
    writer._index.execute("BEGIN IMMEDIATE")
    writer._index.executemany("INSERT INTO files VALUES (?, 0)", [(number,) for number in range(100, 90_000)])
    copy = tmp_path / "copy"
    shutil.copytree(path, copy)
    assert (copy / "index.sqlite-journal").stat().st_size > 0
    assert (copy / "index.sqlite").read_bytes() != before
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert len(open_path(copy).runs) == 1
    assert (copy / "index.sqlite-journal").exists()  # nothing was changed in its place
    monkeypatch.undo()
    assert len(open_path(copy).runs) == 1
    assert open_path(copy).runs[0].tensors[0] == sample_run().tensors[0]


def test_a_journal_that_is_left_while_the_recording_is_open_is_made_good(tmp_path: Path) -> None:
    """A blind test: behind a kill of the recorder `open --follow` said that its index is damaged."""
    path, copy = tmp_path / "r", tmp_path / "copy"
    writer = RecordingWriter(path)
    writer.write(sample_run())
    shutil.copytree(path, copy)
    index = Index(copy)
    assert index.one("SELECT count(*) FROM files") == (1,)
    writer._index.execute("PRAGMA cache_size = 1")
    writer._index.execute("PRAGMA cache_spill = 1")
    writer._index.execute("BEGIN IMMEDIATE")
    writer._index.executemany("INSERT INTO files VALUES (?, 0)", [(number,) for number in range(100, 90_000)])
    for name in ("index.sqlite-journal", "index.sqlite"):
        (copy / name).write_bytes((path / name).read_bytes())
    assert index.one("SELECT count(*) FROM files") == (1,)
    assert index.checked() == ""


def test_a_recording_that_could_not_begin_is_not_in_its_own_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> object:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for part in ("WriterLock", "json_bytes", "_new_index"):
        with monkeypatch.context() as patch:
            patch.setattr(writer_module, part, full)
            with pytest.raises(TfdbgError, match="The disk is full"):
                RecordingWriter(tmp_path / "r")
        assert list((tmp_path / "r").iterdir()) == []
    writer = RecordingWriter(tmp_path / "r")
    writer.write(sample_run())
    writer.close()
    assert len(open_path(tmp_path / "r").runs) == 1


@pytest.mark.parametrize("share", range(42))
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: int) -> None:
    """It is full after so many 42nds of what two runs take; the last write takes what there is room for."""
    left, written = [1 << 30], os.pwrite

    def pwrite(descriptor: int, content: memoryview, offset: int) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = written(descriptor, content[: left[0]], offset)
        left[0] -= done
        return done

    for path in (tmp_path / "whole", tmp_path / "r"):
        writer = RecordingWriter(path)
        writer.write(sample_run())
        monkeypatch.setattr(data_files.os, "pwrite", pwrite)
        if path.name == "r":
            break
        writer.write(sample_run())
        writer.write(sample_run())
        writer.close()
        monkeypatch.undo()
        left[0] = ((1 << 30) - left[0]) * share // 42
    failed = 0
    for _ in range(2):
        try:
            writer.write(sample_run())
        except TfdbgError as error:
            failed += 1
            assert "The disk is full" in error.message
    monkeypatch.undo()
    writer.write(sample_run())
    writer.close()
    runs = open_path(path).runs
    assert len(runs) == 4 - failed and failed >= 1
    for run in runs:
        for place in range(len(run.tensors)):
            value, expected = run.tensors.value(place), sample_run().tensors.value(place)
            assert isinstance(value, NoValue) is isinstance(expected, NoValue)
            if not isinstance(value, NoValue) and not isinstance(expected, NoValue):
                assert value.tobytes() == expected.tobytes() or value.dtype == object


def test_the_oldest_runs_give_way(tmp_path: Path) -> None:
    path, budget = tmp_path / "r", 3_000_000
    writer = RecordingWriter(path, budget=budget)
    for _ in range(60):
        writer.write(_large(100_000))
        taken = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        assert taken <= budget
    dropped = writer.dropped
    writer.close()
    runs = open_path(path).runs
    assert len(runs) == 60 - dropped and 2 <= len(runs) <= 8
    assert all(not isinstance(run.tensors.value(0), NoValue) for run in runs)


def test_a_run_larger_than_the_budget_is_refused(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r", budget=300_000)
    with pytest.raises(TfdbgError, match=r"One run takes about .* more than the 293 kB"):
        writer.write(_large(1_000_000))
    writer.write(_large(1_000))
    writer.close()
    assert len(open_path(tmp_path / "r").runs) == 1


def test_where_no_room_can_be_made_no_run_gives_way(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r", budget=500_000)
    for _ in range(2):
        writer.write(_large(1_000))
    with pytest.raises(TfdbgError, match=r"One run takes about .* more than the 488 kB"):
        writer.write(_large(1_000_000))
    assert not writer.dropped
    writer.write(_large(1_000))
    writer.close()
    assert [float(run.tensors.value(0)[-1]) for run in open_path(tmp_path / "r").runs] == [1.0] * 3  # type: ignore[index]


def _large(elements: int):  # type: ignore[no-untyped-def]
    from support.made_run import made_run, op

    return made_run(op("a", "Const", value=np.ones(elements, np.float32)))
