"""The folder in which programs of one user listen."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.remote.meeting_place import Job, listen, meetings

JOB = Job("jobs/train.py", 4711, 0.0)


@pytest.fixture
def place(monkeypatch):
    """A short path: those of pytest are too long for a socket."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder) / "tfdbg"


def test_who_listens_is_found_by_number_and_name(place: Path) -> None:
    made, _ = listen(JOB)
    with made:
        (found,) = meetings()
        assert found.job == JOB
        assert [found.is_called(name) for name in ("4711", "train", "train.py", "jobs/train.py", "471")] == [
            True, True, True, True, False,
        ]  # fmt: skip
        assert place.stat().st_mode & 0o777 == 0o700
        found.connect().close()


def test_a_script_is_found_by_any_path_of_it(place: Path, tmp_path: Path, monkeypatch) -> None:
    script = tmp_path / "jobs" / "train.py"
    script.parent.mkdir()
    script.write_text("")
    made, _ = listen(Job("train.py", 4711, 0.0, os.path.realpath(script)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alias").symlink_to(tmp_path / "jobs")
    with made:
        (found,) = meetings()
        names = (str(script), "jobs/train.py", "alias/train.py", "./train.py", "/elsewhere/train.py")
        assert [found.is_called(name) for name in names] == [True, True, True, False, False]


def test_what_a_dead_process_left_is_removed(place: Path) -> None:
    listen(JOB)[0].close()
    assert list(place.iterdir())
    assert meetings() == []
    assert list(place.iterdir()) == []


def test_a_dead_one_gives_way_and_a_living_one_does_not(place: Path) -> None:
    listen(JOB)[0].close()
    (first, one), (second, two) = listen(JOB), listen(JOB)
    with first, second:
        assert (one.number, two.number) == ("4711", "4711-2")
        assert [meeting.job.pid for meeting in meetings()] == [4711, 4711]


def test_without_a_runtime_folder_it_is_among_the_temporary_files_and_found_from_either(place, monkeypatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    made, meeting = listen(JOB)
    with made:
        assert meeting.path.parent == place.parent / f"tfdbg-{os.getuid()}"
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(place.parent))
        assert len(meetings()) == 1


@pytest.mark.parametrize("wrong", ["open", "link", "file"])
def test_a_folder_of_others_is_refused(place: Path, wrong: str) -> None:
    if wrong == "open":
        place.mkdir()
        place.chmod(0o755)
    elif wrong == "link":
        place.symlink_to(place.parent)
    else:
        place.write_text("")
    for act in (lambda: listen(JOB), meetings):
        with pytest.raises(TfdbgError, match=r"is open to other users|is no folder"):
            act()


def test_a_path_that_is_too_long_is_told(place: Path, monkeypatch) -> None:
    deep = place.parent / ("x" * 120)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    with pytest.raises(TfdbgError, match="too long"):
        listen(JOB)


@pytest.mark.parametrize("note", ["{", "[]", '{"name": "x", "pid": 1e999, "since": 0, "path": ""}'])
def test_a_damaged_note_costs_the_name_alone(place: Path, note: str) -> None:
    made, meeting = listen(JOB)
    with made:
        meeting.path.with_suffix(".json").write_text(note)
        assert meetings()[0].job == Job("a program", 4711, 0.0)
