"""Workers of a job who tell each other through a folder what they found."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from support.ending import ends

from tfdbg_cli.remote.fellow_workers import FellowWorkers

_CLUSTER = {"worker": ["a:1", "b:1", "c:1"]}


class Watch:
    def __init__(self) -> None:
        self.heard: list[tuple[str, int, str]] = []

    def called(self, worker: str, run: int, filter_name: str) -> None:
        self.heard.append((worker, run, filter_name))


def _environment(folder: Path | None, index: int | None) -> dict[str, str]:
    task = {"cluster": _CLUSTER, "task": {"type": "worker", "index": index}}
    told = {} if index is None else {"TF_CONFIG": json.dumps(task)}
    return told if folder is None else {**told, "TFDBG_JOB": str(folder)}


@pytest.fixture(autouse=True)
def quiet(monkeypatch) -> None:
    """Without the thread, whose looks come when they come: what it does is `pass_on`."""
    monkeypatch.setattr("tfdbg_cli.remote.fellow_workers.start_thread", lambda work, name: None)


def _worker(folder: Path | None, index: int | None) -> tuple[FellowWorkers, Watch]:
    made, watch = FellowWorkers(_environment(folder, index)), Watch()
    made.hear(watch)
    return made, watch


def _touched(folder: Path) -> None:
    """As if time had passed between two changes: clocks of file systems are coarse."""
    later = time.time_ns() + 10**10
    os.utime(folder, ns=(later, later))


@pytest.mark.parametrize(
    ("kind", "why"), [("file", "It is no folder."), ("link", "It is a link that leads nowhere.")]
)
def test_a_place_that_is_no_folder_is_told_once_by_the_variable_that_names_it(tmp_path, capsys, kind, why) -> None:
    """A blind test: it said twice that a file exists, and neither what had named it nor what to do."""
    place = tmp_path / "job"
    if kind == "file":
        place.touch()
    else:
        place.symlink_to(tmp_path / "gone")
    worker, _ = _worker(place, 0)
    said = capsys.readouterr().err
    assert f"TFDBG_JOB names {place}. {why} Name a folder there" in said
    assert worker.tell(12, "has_nan") == "The other workers are not told (--on-hit all): why was said before."
    worker.pass_on()
    assert capsys.readouterr().err == ""


def test_what_one_finds_the_others_hear_once(tmp_path) -> None:
    first, of_first = _worker(tmp_path, 0)
    second, of_second = _worker(tmp_path, 1)
    assert first.tell(12, "has_nan") == f"Told of this (--on-hit all): worker1. Not in {tmp_path}: worker2."
    _touched(tmp_path)
    for worker in (first, second, second):
        worker.pass_on()
    assert (of_first.heard, of_second.heard) == ([], [("worker0", 12, "has_nan")])
    first.tell(13, "has_nan")
    _touched(tmp_path)
    second.pass_on()
    assert of_second.heard[1:] == [("worker0", 13, "has_nan")]


def test_who_found_something_itself_is_not_called_for_what_was_told_before(tmp_path) -> None:
    first, of_first = _worker(tmp_path, 0)
    second, of_second = _worker(tmp_path, 1)
    first.tell(12, "has_nan")
    second.tell(12, "has_nan")
    _touched(tmp_path)
    for worker in (first, second):
        worker.pass_on()
    assert of_first.heard == [("worker1", 12, "has_nan")]
    assert of_second.heard == []


def test_what_lies_there_from_an_earlier_job_is_not_heard(tmp_path) -> None:
    _worker(tmp_path, 0)[0].tell(5, "has_nan")
    late, heard = _worker(tmp_path, 1)
    _touched(tmp_path)
    late.pass_on()
    assert heard.heard == []


def test_without_the_variable_workers_of_one_cluster_meet_in_a_folder_of_the_user(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    first, _ = _worker(None, 0)
    second, heard = _worker(None, 1)
    assert first.tell(1, "has_nan").startswith("Told of this (--on-hit all): worker1.")
    (folder,) = (tmp_path / "tfdbg" / "jobs").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    _touched(folder)
    second.pass_on()
    assert heard.heard == [("worker0", 1, "has_nan")]


def test_without_a_job_nobody_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    alone, _ = _worker(None, None)
    assert alone.tell(1, "has_nan").startswith("No other worker is told")
    assert list(tmp_path.iterdir()) == []


def test_programs_that_are_given_a_folder_need_no_cluster(tmp_path) -> None:
    first, _ = _worker(tmp_path, None)
    assert first.tell(1, "has_nan") == "No other worker hears of this."
    _other = _worker(tmp_path, 1)
    assert "Told of this (--on-hit all): worker1." in first.tell(2, "has_nan")


def test_a_program_that_says_late_which_worker_it_is(tmp_path) -> None:
    environment: dict[str, str] = {}
    late, heard = FellowWorkers(environment), Watch()
    late.hear(heard)
    late.pass_on()
    environment.update(_environment(tmp_path, 1))
    first, _ = _worker(tmp_path, 0)
    late.pass_on()
    first.tell(3, "has_nan")
    _touched(tmp_path)
    late.pass_on()
    assert heard.heard == [("worker0", 3, "has_nan")]


def test_who_leaves_is_not_there(tmp_path) -> None:
    first, _ = _worker(tmp_path, 0)
    second, _ = _worker(tmp_path, 1)
    second.leave()
    assert first.tell(1, "has_nan") == f"No other worker hears of this. Not in {tmp_path}: worker1, worker2."


def test_a_watch_that_is_gone_is_not_called(tmp_path) -> None:
    first, _ = _worker(tmp_path, 0)
    second, heard = _worker(tmp_path, 1)
    del heard
    first.tell(1, "has_nan")
    _touched(tmp_path)
    second.pass_on()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b'{"worker": "w"}',
        b'{"worker": "w", "mark": "m", "run": "x", "filter_name": "f"}',
        b"[" * 9000,
        b'{"worker": "w", "mark": "m", "run": 1e999, "filter_name": "f"}',
    ],
)
def test_files_that_say_nothing_are_left_out(tmp_path, content) -> None:
    """A blind test: a number without an end ended the thread, and raised in the program's own at its next hit."""
    first, heard = _worker(tmp_path, 0)
    (tmp_path / "x.worker").write_bytes(content)
    _touched(tmp_path)
    first.pass_on()
    assert heard.heard == []
    assert first.tell(1, "has_nan").startswith("No other worker hears of this.")


def test_a_pipe_among_the_files_is_not_waited_for(tmp_path) -> None:
    first, heard = _worker(tmp_path, 0)
    os.mkfifo(tmp_path / "x.worker")
    _touched(tmp_path)
    with ends("looking at a pipe"):
        first.pass_on()
    assert heard.heard == []


def test_names_never_reach_the_terminal_raw(tmp_path) -> None:
    first, heard = _worker(tmp_path, 0)
    told = {"worker": "w\x1b[2J" + "x" * 999, "mark": "m", "run": 1, "filter_name": "\x07"}
    (tmp_path / "x.worker").write_text(json.dumps(told))
    _touched(tmp_path)
    first.pass_on()
    ((worker, _, passed),) = heard.heard
    assert worker.startswith(r"w\x1b[2Jxx") and len(worker) < 110
    assert passed == r"\x07"


def test_a_folder_that_cannot_be_is_told_once_and_ends_nothing(tmp_path, capsys) -> None:
    (tmp_path / "file").write_text("")
    made, watch = FellowWorkers(_environment(tmp_path / "file", 0)), Watch()
    made.hear(watch)
    for _ in range(2):
        made.pass_on()
    assert capsys.readouterr().err.count("Other workers are not heard (--on-hit all): ") == 1
    assert made.tell(1, "has_nan").startswith("The other workers are not told (--on-hit all): ")
