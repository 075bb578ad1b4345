"""A recording that is followed: new runs come, those that are there keep their places, nobody waits."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.event_set_maker import EventSetMaker, health, small_set
from support.job_maker import record_job, step

from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import NothingYetError, TfdbgError
from tfdbg_cli.formats.container.background import BackgroundWriter
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.formats.jobs.root import folder_for
from tfdbg_cli.formats.opening import open_followed


def _service(path: Path) -> PromptService:
    return PromptService(open_followed(path), standard_registry())


def _titles(service: PromptService) -> list[str]:
    outcome = service.execute("runs")
    assert isinstance(outcome, Document)
    return [row["title"] for row in outcome.data()["runs"]]


def test_new_runs_of_a_recording_come_behind_those_that_are_there(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    writer.write(step(1))
    service = _service(tmp_path / "r")
    service.following.look()
    assert service.following.news() == "" and "1 run, followed" in service.title.text
    assert service.opening == "runs"  # though there is only one
    writer.write(step(2))
    writer.write(step(3))
    service.following.look()
    assert service.following.news() == "2 new runs: there are 3 now."
    assert service.following.news() == ""
    assert _titles(service) == [f"run #{number}: train_step()" for number in (1, 2, 3)]
    assert "3 runs, followed" in service.title.text


def test_what_was_found_out_about_all_runs_is_found_out_anew(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    writer.write(step(1))
    service = _service(tmp_path / "r")

    def points() -> int:
        outcome = service.execute("history weight:0")
        assert isinstance(outcome, Document)
        return len(outcome.data()["points"])

    assert points() == 1
    writer.write(step(2))
    service.following.look()
    assert service.following.news() and points() == 2


def test_runs_of_workers_that_come_late_stand_last(tmp_path: Path) -> None:
    job = record_job(tmp_path / "job", {"chief0": [1]})
    service = _service(job)
    late = RecordingWriter(folder_for(job, "worker1"))
    service.following.look()
    assert not service.following.news()
    assert "The worker worker1 has finished no run." in _shown(service)
    late.write(step(1))
    service.following.look()
    assert service.following.news() == "1 new run: there are 2 now."
    assert _titles(service) == ["run #1 of chief0: train_step()", "run #1 of worker1: train_step()"]
    assert "of 2 workers" in _shown(service) and "no run" not in _shown(service)


def _shown(service: PromptService) -> str:
    outcome = service.execute("runs")
    assert isinstance(outcome, Document)
    return "\n".join(row.text for row in outcome.lines(100))


def test_a_worker_that_is_damaged_meanwhile_hides_no_other(tmp_path: Path) -> None:
    job = record_job(tmp_path / "job", {"chief0": [1]})
    service = _service(job)
    other = RecordingWriter(folder_for(job, "worker1"))
    other.write(step(1))
    (job / "chief0" / "index.sqlite").write_bytes(b"no database any more")
    service.following.look()
    assert service.following.news() == "1 new run: there are 2 now."


def test_what_keeps_runs_from_being_read_is_said_once_and_forgotten(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    writer.write(step(1))
    service = _service(tmp_path / "r")
    index = tmp_path / "r" / "index.sqlite"
    index.rename(tmp_path / "away")
    service.following.look()
    assert "New runs cannot be read now: The index" in service.following.news()
    service.following.look()
    assert service.following.news() == ""
    (tmp_path / "away").rename(index)
    writer.write(step(2))
    service.following.look()
    assert service.following.news() == "1 new run: there are 2 now."


def test_a_reader_in_the_middle_of_reading_lets_the_writer_write_on(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    writer.write(step(1))
    service = _service(tmp_path / "r")
    for number in range(2, 12):
        service.following.look()
        service.execute(f"runs {service.following.count}")
        writer.write(step(number))
    service.following.look()
    assert service.following.count == 11
    written = sqlite3.connect(tmp_path / "r" / "index.sqlite", timeout=0)
    written.execute("BEGIN EXCLUSIVE")  # no lock of a reader is left over
    written.execute("ROLLBACK")


def test_a_reader_that_was_stopped_costs_the_runs_of_that_time_and_no_others(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    writer._index.execute("PRAGMA busy_timeout = 20")  # it waits for seconds otherwise
    said: list[str] = []
    background = BackgroundWriter(writer, 1 << 20, said.append)
    background.add(step(1), 0)
    background.settle()
    reader = sqlite3.connect(tmp_path / "r" / "index.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM runs").fetchall()  # as if it was stopped before it let go
    background.add(step(2), 0)
    background.add(step(3), 0)
    background.settle()
    reader.execute("ROLLBACK")
    background.add(step(4), 0)
    background.close()
    assert len(said) == 1 and "was not recorded" in said[0] and not background.failed
    assert [run.call.number for run in open_followed(tmp_path / "r").runs] == [1, 4]


_ENDLESS = """
import itertools, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from support.job_maker import step
from tfdbg_cli.formats.container.writer import RecordingWriter
writer = RecordingWriter(Path(sys.argv[1]))
for number in itertools.count(1):
    writer.write(step(number))
    print(number, flush=True)
"""


def test_a_writer_that_is_killed_is_followed_to_its_last_run(tmp_path: Path) -> None:
    script = _ENDLESS.format(tests=str(Path(__file__).parents[2]))
    words = [sys.executable, "-c", script, str(tmp_path / "r")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        service = _service(tmp_path / "r")
        for _ in range(20):
            service.following.look()
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        said = int((process.stdout.read().split() or ["1"])[-1])
    service.following.look()
    service.following.look()
    assert service.following.count in (said, said + 1)


def test_a_thread_looks_while_somebody_does_something_else(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    writer.write(step(1))
    service = _service(tmp_path / "r")
    service.following.interval = 0.01
    with service.following:
        writer.write(step(2))
        end = time.monotonic() + 120
        while service.following.count < 2 and time.monotonic() < end:
            time.sleep(0.01)
    assert service.following.count == 2


def test_an_event_set_that_grows(tmp_path: Path) -> None:
    maker = EventSetMaker(tmp_path)
    with pytest.raises(NothingYetError):
        open_followed(tmp_path)
    maker.device()
    maker.graph("g", "step")
    maker.op("g", "x", "Placeholder")
    maker.execution("AddV2", [1, 2], [3], [health(6)])
    service = _service(tmp_path)
    assert service.following.count == 1
    before = service.execute("runs 1")
    assert isinstance(before, Document) and len(before.data()["tensors"]) == 1
    maker.execution("Mul", [3, 3], [4], [health(6)])
    service.following.look()
    after = service.execute("runs 1")
    assert isinstance(after, Document) and len(after.data()["tensors"]) == 2  # the run goes on
    assert not service.following.news()
    maker.trace("g", "x", health(6))
    maker.execution("__inference_step_12", [4], [10], [health(6)], graph="g")
    service.following.look()
    assert service.following.news() == "1 new run: there are 2 now."
    assert _titles(service)[1] == "run #2: step(x:0)"


def test_a_host_that_joins_an_event_set_moves_no_run(tmp_path: Path) -> None:
    made = small_set(tmp_path)
    service = _service(tmp_path)
    before = _titles(service)
    service.execute("runs 3")
    devices = service.execute("lt")
    assert isinstance(devices, Document) and "/job:worker" not in str(devices.data())
    worker = EventSetMaker(tmp_path, host="aaa")  # in front of the other by its name
    service.following.look()
    assert not service.following.news() and _titles(service) == before
    worker.time = made.time - 0.0035  # within the last call
    worker.trace("g", "Softmax", health(6), device="/job:worker")
    worker.time = made.time + 1
    worker.execution("__inference_other_3", [], [900], [health(2)])
    service.following.look()
    assert service.following.news() == "1 new run: there are 5 now."
    assert _titles(service)[:3] == before[:3]
    service.execute("runs 3")
    after = service.execute("lt")
    assert isinstance(after, Document) and "/job:worker" in str(after.data())
    assert "other" in _titles(service)[4]


def test_a_host_of_which_nothing_is_known_yet_is_no_set_of_its_own(tmp_path: Path) -> None:
    small_set(tmp_path)
    service = _service(tmp_path)
    count = service.following.count
    worker = EventSetMaker(tmp_path, host="late")
    told = worker.path("metadata").read_bytes()
    worker.path("metadata").write_bytes(told[:10])
    worker.time += 100
    worker.execution("__inference_other_3", [], [900], [health(2)])
    service.following.look()
    assert service.following.count == count
    worker.path("metadata").write_bytes(told)
    service.following.look()
    assert service.following.count == count + 1


def test_an_address_is_not_followed(tmp_path: Path) -> None:
    with pytest.raises(TfdbgError, match="are not followed"):
        open_followed(f"file://{tmp_path}")


@pytest.mark.parametrize("there", [False, True])
def test_where_nothing_is_yet_there_may_be_something_soon(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "r"
    if there:
        path.mkdir()
    with pytest.raises(NothingYetError):
        open_followed(path)
    writer = RecordingWriter(path)
    with pytest.raises(NothingYetError):
        open_followed(path)
    writer.write(step(1))
    assert len(open_followed(path).runs) == 1


def test_what_does_not_grow_is_not_followed(tmp_path: Path) -> None:
    write_dump(step(1), tmp_path / "dump")
    with pytest.raises(TfdbgError, match="Nobody adds runs") as caught:
        open_followed(tmp_path / "dump")
    assert not isinstance(caught.value, NothingYetError)
    (tmp_path / "file").touch()
    with pytest.raises(TfdbgError, match="no format"):
        open_followed(tmp_path / "file")


@pytest.mark.parametrize(
    "there", [(), ("index.sqlite",), ("index.sqlite", "data/"), ("data/", "recording.json.partial-7")]
)
def test_a_recording_that_is_being_made_is_waited_for(tmp_path: Path, there: tuple[str, ...]) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    for name in there:
        path = folder / name
        path.mkdir() if name.endswith("/") else path.touch()
    with pytest.raises(NothingYetError, match="There is no run in"):
        open_followed(folder)
