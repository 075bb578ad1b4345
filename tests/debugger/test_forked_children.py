"""A process that is forked from one that records says and writes nothing of that recording; no TensorFlow."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.sample_run import sample_run

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.recorder import Recorder
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.decision import RecordRuns


def _in_a_child(what: Callable[[], object]) -> None:
    """Do `what` in a process that is forked from this one; it ends at once."""
    child = os.fork()
    if not child:
        code = 1
        try:
            what()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _recorder(said: Path) -> Recorder:
    """One that puts what it says into a file, in whichever process."""

    def say(sentence: str) -> None:
        with said.open("a", encoding="utf-8") as file:
            file.write(f"{sentence}\n")

    return Recorder(Settings, say)


@pytest.fixture
def said(tmp_path: Path) -> Path:
    path = tmp_path / "said"
    path.touch()
    return path


@pytest.fixture
def own(said: Path) -> Recorder:
    return _recorder(said)


@pytest.mark.parametrize("taken", [0, 2])
def test_a_child_that_ends_tells_nothing_of_the_recording_of_its_parent(
    tmp_path: Path, own: Recorder, said: Path, taken: int
) -> None:
    """A blind test: 25 forks said 25 times how many runs were recorded, while the recording went on."""
    own.begin(RecordRuns(str(tmp_path / "r")))
    for _ in range(taken):
        assert own.wants("step")
        own.take(sample_run())
    own.settle()
    before = said.read_text()
    _in_a_child(own.end)
    assert said.read_text() == before
    assert own.wants("step")
    own.take(sample_run())
    own.end()
    assert f"{taken + 1} run" in said.read_text().splitlines()[-1]
    assert len(open_path(tmp_path / "r").runs) == taken + 1


@pytest.mark.parametrize("begun", [False, True])
def test_a_child_that_would_have_recorded_says_once_that_it_does_not(
    tmp_path: Path, own: Recorder, said: Path, begun: bool
) -> None:
    asked = RecordRuns(str(tmp_path / "r"))
    (own.begin if begun else own.begin_with_first_run)(asked)
    before = said.read_text()

    def train() -> None:
        assert not any(own.wants("step") for _ in range(3))
        assert not own.on
        own.take(sample_run())
        own.end()

    _in_a_child(train)
    (sentence,) = said.read_text().removeprefix(before).splitlines()
    assert sentence.startswith("Process ") and sentence.endswith(
        f" was forked from the one whose runs are recorded in {tmp_path / 'r'}; its own are not recorded."
    )
    assert begun or not (tmp_path / "r").exists()
    assert own.wants("step")
    own.end()


def test_what_is_asked_for_another_process_is_not_recorded_here(tmp_path: Path, own: Recorder, said: Path) -> None:
    """A blind test: two workers came to TensorFlow before the program that was launched, and took its recording."""
    own.begin_with_first_run(RecordRuns(str(tmp_path / "r")), process=os.getppid())
    assert not own.wants("step") and not own.on
    own.end()
    assert said.read_text().count("its own are not recorded") == 1
    assert not (tmp_path / "r").exists()


def test_a_program_that_forked_itself_into_the_background_is_recorded(
    tmp_path: Path, own: Recorder, said: Path
) -> None:
    ended = os.fork()
    if not ended:
        os._exit(0)
    os.waitpid(ended, 0)
    own.begin_with_first_run(RecordRuns(str(tmp_path / "r")), process=ended)
    assert own.wants("step")
    own.take(sample_run())
    own.end()
    assert "1 run was recorded" in said.read_text() and len(open_path(tmp_path / "r").runs) == 1


def test_a_child_may_record_in_a_folder_of_its_own(tmp_path: Path, own: Recorder, said: Path) -> None:
    own.begin(RecordRuns(str(tmp_path / "r")))
    before = said.read_text()

    def record() -> None:
        own.begin(RecordRuns(str(tmp_path / "child")))
        assert own.wants("step")
        own.take(sample_run())
        own.end()

    _in_a_child(record)
    begins, ends = said.read_text().removeprefix(before).splitlines()
    assert str(tmp_path / "child") in begins and ends.startswith("1 run was recorded")
    assert len(open_path(tmp_path / "child").runs) == 1
    own.end()
