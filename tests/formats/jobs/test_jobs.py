"""Several workers of a job record into one folder, which opens as one recording."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.golden import check_golden
from support.job_maker import record_job, step
from support.prompt import Prompt

from tfdbg_cli.errors import NothingYetError, TfdbgError
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.jobs import root
from tfdbg_cli.formats.jobs.root import folder_for, refuse_taken
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording.format import UNCHECKED

_TWO = {"chief0": [1, 2, 3], "worker1": [1, 2]}
_WRITER = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from support.job_maker import step
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.jobs.root import folder_for
writer = RecordingWriter(folder_for(Path(sys.argv[1]), sys.argv[2]))
writer.write(step(1))
print("written", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return record_job(tmp_path / "job", _TWO)


def _refusal(path: Path, worker: str) -> TfdbgError:
    with pytest.raises(TfdbgError) as caught:
        refuse_taken(path, worker)
    assert caught.value.exit_code == 1 and caught.value.hint
    return caught.value


def _titles(path: Path) -> list[str]:
    return [run.call.title.removesuffix(": train_step()") for run in open_path(path).runs]


def test_runs_of_all_workers_stand_in_the_order_of_time(job: Path) -> None:
    opened = open_path(job)
    assert opened.workers == ["chief0", "worker1"] and not opened.notes
    assert _titles(job) == [
        "run #1 of chief0", "run #1 of worker1", "run #2 of chief0", "run #2 of worker1", "run #3 of chief0"
    ]  # fmt: skip


def test_each_worker_has_a_recording_of_its_own(job: Path) -> None:
    assert _titles(job / "worker1") == ["run #1", "run #2"]
    assert sorted(entry.name for entry in job.iterdir()) == ["chief0", "worker1", "workers.json"]
    assert {entry.stat().st_mode & 0o77 for entry in (job, *job.rglob("*"))} == {0}


def test_calls_of_two_workers_are_not_the_same(job: Path) -> None:
    """So `history`, `trends` and `newer --same` follow one worker."""
    prompt = Prompt(open_path(job))
    assert [point["run"] for point in prompt.data("history weight:0")["points"]] == [1, 2, 3]
    assert "2 runs of other workers, functions or fetches left out" in prompt.show("history weight:0")
    prompt.run("runs 2")
    assert len(prompt.data("history weight:0")["points"]) == 2
    prompt.run("newer --same")
    assert prompt.data("runs")["current"] == 4


def test_lists_have_a_column_for_the_worker(job: Path) -> None:
    prompt = Prompt(open_path(job))
    shown = prompt.show("runs")
    assert "5 runs of 2 workers in" in shown and "Worker" in shown and "of worker1" not in shown
    assert [row["worker"] for row in prompt.data("runs")["runs"]] == ["chief0", "worker1"] * 2 + ["chief0"]
    prompt.run("runs 2")
    assert "Worker" in prompt.show("lt") and "worker1" in prompt.show("lt")
    assert {row["worker"] for row in prompt.data("lt")["tensors"]} == {"worker1"}
    assert "run #1 of worker1" in prompt.show("run_info")


def test_the_list_of_runs(job: Path) -> None:
    (job / "worker1" / "index.sqlite").write_bytes(b"")
    opened = open_path(job)
    prompt = Prompt(replace(opened, path="job", notes=tuple(note.replace(str(job), "job") for note in opened.notes)))
    check_golden("commands/runs_of_workers", prompt.show("runs", 80))


def test_queries_ask_for_the_worker(job: Path) -> None:
    prompt = Prompt(open_path(job))
    assert [row["number"] for row in prompt.data("runs -q worker:worker1")["runs"]] == [2, 4]
    assert [row["number"] for row in prompt.data("runs -q 'worker~^chief run>1'")["runs"]] == [3, 5]
    assert len(prompt.data("lt -q worker:chief0")["tensors"]) == 2
    assert not prompt.data("lt -q worker:worker1")["tensors"]
    assert len(prompt.data("lt -q 'worker!=worker1 grad'")["tensors"]) == 1


def test_a_damaged_worker_hides_no_other(job: Path) -> None:
    (job / "chief0" / "index.sqlite").write_bytes(b"nothing of SQLite")
    opened = open_path(job)
    assert opened.workers == ["worker1"] and len(opened.runs) == 2
    assert "The worker chief0 cannot be read: The index" in opened.notes[0]
    assert "The worker chief0 cannot be read" in Prompt(opened).show("runs")
    found = examined(job)
    assert found.facts[0].startswith("worker1: 2 runs, the last one 20")
    assert "The worker chief0 cannot be read" in found.troubles[0][0]


def test_what_is_wrong_with_the_recording_of_a_worker_is_wrong_with_the_job(job: Path) -> None:
    """A blind test: nothing was said to be wrong, though the data of a worker was gone."""
    assert not examined(job).troubles and examined(job).facts[-1] == UNCHECKED
    next((job / "worker1" / "data").iterdir()).unlink()
    [(alone, hint)] = examined(job / "worker1").troubles
    assert examined(job).troubles == ((f"The worker worker1: {alone}", hint),)


def test_a_worker_whose_index_is_gone_is_told(job: Path) -> None:
    (job / "worker1" / "index.sqlite").unlink()
    assert "The worker worker1 cannot be read" in open_path(job).notes[0]


def test_where_no_worker_can_be_read_that_is_said(job: Path) -> None:
    for worker in _TWO:
        (job / worker / "index.sqlite").write_bytes(b"")
    with pytest.raises(TfdbgError, match="No worker of the job") as caught:
        open_path(job)
    assert not isinstance(caught.value, NothingYetError)


def test_a_worker_that_finished_no_run_is_told(job: Path) -> None:
    RecordingWriter(folder_for(job, "ps0")).close()
    opened = open_path(job)
    assert len(opened.runs) == 5 and list(opened.notes) == ["The worker ps0 has finished no run."]
    shutil.rmtree(job / "chief0")
    shutil.rmtree(job / "worker1")
    with pytest.raises(NothingYetError, match="No run of any worker"):
        open_path(job)


def test_other_folders_lie_beside_the_workers_unharmed(job: Path) -> None:
    (job / "checkpoints").mkdir()
    (job / "notes.txt").touch()
    (job / "linked").symlink_to(job / "chief0", target_is_directory=True)
    assert len(open_path(job).runs) == 5 and not open_path(job).notes


def test_the_marker_says_nothing_that_anybody_trusts(job: Path) -> None:
    (job / "workers.json").write_bytes(b"\xff\0")
    assert len(open_path(job).runs) == 5


def test_without_the_marker_its_folders_are_named(job: Path) -> None:
    (job / "workers.json").unlink()
    with pytest.raises(TfdbgError, match="holds recordings") as caught:
        open_path(job)
    assert str(job / "chief0") in caught.value.hint


def test_a_folder_with_an_index_alone_is_not_named(job: Path) -> None:
    """A blind test: it stood before those that are recordings, and nothing else was named."""
    (job / "workers.json").unlink()
    names = sorted(path.name for path in job.iterdir())
    (job / "a").mkdir()
    (job / "a" / "index.sqlite").touch()
    with pytest.raises(TfdbgError, match="holds recordings") as caught:
        open_path(job)
    assert caught.value.hint == f"Open one: {', '.join(str(job / name) for name in names)}."


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "-x", "a b", "x" * 65, "new\nline"])
def test_what_cannot_be_a_folder_is_no_name(tmp_path: Path, name: str) -> None:
    if name:
        assert "cannot be the name of a worker" in _refusal(tmp_path / "job", name).message
    else:
        assert folder_for(tmp_path / "job", name) == tmp_path / "job"
    assert not (tmp_path / "job").exists()


def test_nobody_writes_where_a_worker_has_recorded(job: Path) -> None:
    assert f"The worker chief0 has recorded in {job / 'chief0'} already." in _refusal(job, "chief0").message
    refused = _refusal(job, "")
    assert refused.message == f"Workers of a job record in {job}: chief0, worker1."
    assert "--worker NAME" in refused.hint


@pytest.mark.parametrize("own", ["worker1", "worker0"])
def test_another_worker_may_be_first_at_any_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str) -> None:
    looked = root.refuse_existing

    def look_late(folder: Path) -> None:
        monkeypatch.setattr(root, "refuse_existing", looked)
        RecordingWriter(folder_for(tmp_path, "worker0")).close()
        looked(folder)

    monkeypatch.setattr(root, "refuse_existing", look_late)
    if own == "worker0":
        with pytest.raises(TfdbgError, match="The worker worker0 has recorded"):
            folder_for(tmp_path, own)
    else:
        assert folder_for(tmp_path, own) == tmp_path / own


def test_a_job_does_not_begin_where_something_else_is(tmp_path: Path) -> None:
    RecordingWriter(tmp_path / "r").close()
    assert "A program has recorded in" in _refusal(tmp_path / "r", "chief0").message
    assert "A program has recorded in" in _refusal(tmp_path / "r", "").message
    (tmp_path / "file").touch()
    assert "There is something at" in _refusal(tmp_path / "file", "chief0").message
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    assert "There is something at" in _refusal(tmp_path / "full", "chief0").message


def _writer(path: Path, worker: str) -> subprocess.Popen[str]:
    script = _WRITER.format(tests=str(Path(__file__).parents[2]))
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path), worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process


@pytest.mark.parametrize("worker", ["chief0", ""])
def test_who_lives_and_writes_is_named_and_after_a_kill_is_not(tmp_path: Path, worker: str) -> None:
    with _writer(tmp_path / "r", worker) as process:
        try:
            said = _refusal(tmp_path / "r", worker).message
            assert "is recording in" in said and f"process {process.pid} on " in said
            if worker:
                assert f"process {process.pid} on" in examined(tmp_path / "r").facts[0]
        finally:
            os.kill(process.pid, signal.SIGKILL)
    assert "has recorded in" in _refusal(tmp_path / "r", worker).message
    assert len(open_path(tmp_path / "r").runs) == 1
    if worker:
        assert "nobody records any more" in examined(tmp_path / "r").facts[0]


def test_a_child_of_the_program_does_not_look_like_the_program(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    try:
        assert "is recording in" in _refusal(tmp_path / "r", "").message
        writer.write(step(1))
        writer.close()
        assert "has recorded in" in _refusal(tmp_path / "r", "").message
    finally:
        os.close(writing)
        os.waitpid(child, 0)


def test_saved_runs_remember_their_worker(job: Path, tmp_path: Path) -> None:
    Prompt(open_path(job)).run(f"save {tmp_path / 'all'}")
    assert _titles(tmp_path / "all") == _titles(job)
