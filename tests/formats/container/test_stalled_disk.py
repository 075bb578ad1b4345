"""A disk that takes nothing, as a network file system whose server is away: the program goes on and ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.sample_run import sample_run

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger import recorder
from tfdbg_cli.debugger.recorder import Recorder
from tfdbg_cli.formats.container import background, data_files, direct_writes
from tfdbg_cli.formats.container.background import MOST_WAITING, BackgroundWriter
from tfdbg_cli.formats.container.run_rows import RunRows
from tfdbg_cli.formats.container.stall import LOOKS, StallWatch, ThreadClock
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.decision import RecordRuns, StopAtStart

_LONG = 60.0  # seconds, of which none passes where all is well


def _impatient(*words: Any) -> BackgroundWriter:
    """One that waits for nothing, and whose thread counts as one that waits for the disk."""
    return BackgroundWriter(*words, patience=0.0, computed=lambda: 0.0)


class _Disk:
    """Calls of the operating system that return when the test lets them."""

    def __init__(self) -> None:
        self.takes = threading.Event()
        self.takes.set()
        self.asked = threading.Event()

    def slow(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*words: Any) -> Any:
            if not self.takes.is_set():
                self.asked.set()
                assert self.takes.wait(_LONG)
            return call(*words)

        return called

    def slow_within(self, folder: Path, call: Callable[..., Any]) -> Callable[..., Any]:
        """`call`, which is slow at paths in `folder`."""
        slow = self.slow(call)

        def called(path: Any, *words: Any, **named: Any) -> Any:
            is_there = str(path).startswith(str(folder))
            return slow(path, *words) if is_there else call(path, *words, **named)

        return called


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Disk]:
    made = _Disk()
    for call in ("pwrite", "pwritev"):
        monkeypatch.setattr(direct_writes.os, call, made.slow(getattr(os, call)))
    monkeypatch.setattr(data_files.os, "fdatasync", made.slow(os.fdatasync))
    yield made
    made.takes.set()


def _written(path: Path) -> list[int]:
    return [run.call.number for run in open_path(path).runs]


def _ended(thread: threading.Thread) -> None:
    thread.join(_LONG)
    assert not thread.is_alive()


def test_the_program_goes_on_while_the_disk_takes_nothing(tmp_path: Path, disk: _Disk) -> None:
    said: list[str] = []
    writer = _impatient(RecordingWriter(tmp_path / "case"), 1 << 30, said.append)
    disk.takes.clear()
    for _ in range(MOST_WAITING + 5):
        writer.add(sample_run(), 10)
    assert disk.asked.wait(_LONG)
    assert writer.left_out == 5
    assert len(said) == 1
    assert f"{tmp_path / 'case'} has taken nothing" in said[0]
    assert "The program goes on" in said[0]
    disk.takes.set()
    _until(lambda: writer.written == MOST_WAITING)
    writer.add(sample_run(), 10)
    _until(lambda: writer.written == MOST_WAITING + 1)
    writer.close()
    _ended(writer._thread)
    assert len(_written(tmp_path / "case")) == MOST_WAITING + 1, "what was taken is there"


def test_a_slow_disk_is_waited_for(tmp_path: Path, disk: _Disk) -> None:
    writer = BackgroundWriter(RecordingWriter(tmp_path / "case"), 1 << 30, pytest.fail, patience=_LONG)
    disk.takes.clear()
    more = threading.Thread(target=lambda: [writer.add(sample_run(), 10) for _ in range(MOST_WAITING + 2)])
    more.start()
    assert disk.asked.wait(_LONG)
    assert more.is_alive(), "the program waits: there is no room"
    disk.takes.set()
    _ended(more)
    assert writer.close() == 0
    assert writer.left_out == 0
    assert len(_written(tmp_path / "case")) == MOST_WAITING + 2


def test_bytes_that_are_taken_are_a_reason_to_wait_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a large run takes: only a disk that takes nothing is given up."""
    writer = _impatient(RecordingWriter(tmp_path / "case"), 1 << 30, pytest.fail)
    moved = iter(range(1000))
    monkeypatch.setattr(RecordingWriter, "moved", property(lambda writer: next(moved)))
    holds = iter([False] * 200 + [True])
    with writer._change:
        writer._wait(lambda: next(holds))
    assert next(holds, None) is None
    assert writer._stalled_at is None


def test_a_thread_that_computes_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: the first run of a graph of 100 000 nodes took a minute; the disk was said to take nothing."""
    said: list[str] = []
    seconds, goes_on = count(), threading.Event()
    write = RunRows.write

    def slow(*words: Any) -> Any:
        assert goes_on.wait(_LONG)
        return write(*words)

    def computed() -> float:
        now = next(seconds)
        if now == 5 * LOOKS:
            goes_on.set()
        return float(now)

    monkeypatch.setattr(RunRows, "write", slow)
    path = tmp_path / "case"
    writer = BackgroundWriter(RecordingWriter(path), 1 << 30, said.append, patience=0.0, computed=computed)
    for _ in range(MOST_WAITING + 2):
        writer.add(sample_run(), 10)
    assert (writer.close(), writer.left_out) == (0, 0)
    assert len(_written(path)) == MOST_WAITING + 2
    assert said == [_waits_in(path)]


def test_a_program_that_waits_a_little_at_each_run_hears_why_it_is_slow(tmp_path: Path) -> None:
    """A blind test: steps of a millisecond took twenty, as long as the disk takes for a run, and nobody said so."""
    said: list[str] = []
    path, seconds = tmp_path / "case", count(0.0, 10.0)
    writer = BackgroundWriter(RecordingWriter(path), 1 << 30, said.append, patience=_LONG, now=lambda: next(seconds))
    for _ in range(2):
        writer.add(sample_run(), 10)
    assert not said
    writer.add(sample_run(), 10)
    writer.add(sample_run(), 10)
    assert said == [_waits_in(path)]
    assert writer.close() == 0


def test_settling_waits_for_what_was_added_before_though_other_threads_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blind test: a daemon thread kept on making runs, and the program that had ended never did."""
    settled, write = threading.Event(), RunRows.write

    def busy(*words: Any) -> Any:
        if not settled.is_set():
            writer.add(sample_run(), 10)  # there is always one more
        return write(*words)

    monkeypatch.setattr(RunRows, "write", busy)
    writer = BackgroundWriter(RecordingWriter(tmp_path / "case"), 1 << 30, pytest.fail)
    writer.add(sample_run(), 10)
    waiting = threading.Thread(target=writer.settle)
    waiting.start()
    waiting.join(_LONG)
    assert not waiting.is_alive()
    settled.set()
    assert writer.close() == 0


def _waits_in(path: Path) -> str:
    words = f"The program waits for its runs to be written in {path}: that takes longer than they do."
    return f"{words} With `--every N` one in N is recorded."


def _stalled(seconds: float, taken: int) -> bool:
    """Whether a disk stalls that takes `taken` bytes, and a thread that computes for `seconds`, between two looks."""
    bytes_by_now, computed = count(0, taken), count(0.0, seconds)
    watch = StallWatch(30.0, lambda: next(bytes_by_now), lambda: next(computed))
    for _ in range(3 * LOOKS):
        watch.look()
    assert watch.takes_long
    return watch.stalled


def test_a_disk_stalls_that_takes_nothing_while_the_thread_hardly_computes() -> None:
    assert _stalled(seconds=0.0, taken=0)
    assert _stalled(seconds=0.0005, taken=0), "the kernel wakes a thread that waits, now and then"
    assert not _stalled(seconds=0.02, taken=0), "many share the processor"
    assert not _stalled(seconds=0.0, taken=1)


def test_a_program_that_was_suspended_gives_up_no_disk() -> None:
    """All of that time is between two looks."""
    watch = StallWatch(30.0, lambda: 0, lambda: 0.0)
    for _ in range(LOOKS - 1):
        watch.look()
    assert not watch.stalled
    watch.begin_anew()
    watch.look()
    assert not watch.stalled


def test_the_clock_of_a_thread_counts_what_that_thread_computes() -> None:
    clock, goes_on, done, seen = ThreadClock(), threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        clock.start()
        done.set()
        assert goes_on.wait(_LONG)
        sum(range(1_000_000))
        done.set()
        assert seen.wait(_LONG)

    assert clock.seconds() == 0.0, "it has not begun"
    thread = threading.Thread(target=work)
    thread.start()
    assert done.wait(_LONG)
    before = clock.seconds()
    done.clear()
    goes_on.set()
    assert done.wait(_LONG)
    assert not hasattr(time, "pthread_getcpuclockid") or clock.seconds() > before
    seen.set()
    _ended(thread)


@pytest.mark.parametrize("stalls_after", [0, 1, 3])
def test_the_end_of_the_program_says_what_is_missing(
    tmp_path: Path, disk: _Disk, monkeypatch: pytest.MonkeyPatch, stalls_after: int
) -> None:
    said: list[str] = []
    made: list[BackgroundWriter] = []

    def impatient(*words: Any) -> BackgroundWriter:
        made.append(_impatient(*words))
        return made[0]

    monkeypatch.setattr(recorder, "BackgroundWriter", impatient)
    own = Recorder(Settings, said.append)
    own.begin(RecordRuns(str(tmp_path / "case"), budget=1 << 30))
    for number in range(stalls_after):
        own.take(sample_run())
        _until(lambda number=number: made[0].written == number + 1)
    disk.takes.clear()
    own.take(sample_run())
    own.take(sample_run())
    assert disk.asked.wait(_LONG)
    own.end()
    assert said[-1].startswith(f"{'1 run was' if stalls_after == 1 else f'{stalls_after} runs were'} recorded")
    assert said[-1].endswith("2 more are missing: for a while nothing could be written there.")
    if stalls_after:
        assert len(_written(tmp_path / "case")) == stalls_after, "what was finished opens while the disk is away"
    disk.takes.set()
    _ended(made[0]._thread)
    assert len(_written(tmp_path / "case")) == stalls_after + 2, "a disk that is back in time gets the rest"


@pytest.mark.parametrize("call", ["mkdir", "open"])
def test_a_recording_that_cannot_begin_is_given_up(
    tmp_path: Path, disk: _Disk, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """A server that is away from the start: its folder, or its first file, is never made."""
    said: list[str] = []
    ended = threading.Event()
    close = RecordingWriter.close
    monkeypatch.setattr(RecordingWriter, "close", lambda writer: (close(writer), ended.set()))
    monkeypatch.setattr(os, call, disk.slow_within(tmp_path, getattr(os, call)))
    own = Recorder(Settings, said.append, patience=0.0)
    own.begin_with_first_run(RecordRuns(str(tmp_path / "case"), budget=1 << 30))
    disk.takes.clear()
    assert not own.wants("step"), "the training goes on"
    assert disk.asked.wait(_LONG)
    assert said == [
        f"The file system of {tmp_path / 'case'} has not answered for 0 s. Is its server there? Another folder may be"
        " on a disk that is. Nothing is recorded; the program goes on."
    ]
    own.take(sample_run())
    own.end()
    assert len(said) == 1
    disk.takes.set()
    assert ended.wait(_LONG), "what begins too late ends at once"
    assert list((tmp_path / "case").iterdir())


def test_a_recording_that_is_asked_for_at_the_prompt_stops_again(
    tmp_path: Path, disk: _Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "mkdir", disk.slow_within(tmp_path, os.mkdir))
    disk.takes.clear()
    own = Recorder(Settings, lambda sentence: None, patience=0.0)
    decision = own.begun(RecordRuns(str(tmp_path / "case"), budget=1 << 30), Settings())
    assert isinstance(decision, StopAtStart)
    assert "has not answered" in decision.notes[0]
    assert not own.on


def test_an_ordinary_disk_is_trusted_for_a_while() -> None:
    assert 10 <= background.PATIENCE <= 120


def _until(holds: Callable[[], bool]) -> None:
    tick = threading.Event()
    for _ in range(6000):
        if holds():
            return
        tick.wait(0.01)
    raise AssertionError("it never came to that")
