from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest
from support.dump_maker import CPU0, dump_message, dump_tensor, small_dump

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.dumps.device_names import directory_of
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path


def session_root(root: Path, numbers: tuple[int, ...] = (10, 9, 2, 0)) -> Path:
    for number in numbers:
        dump_tensor(root / f"run_17000000000000{number:02d}_{number}", f"n{number}", 5)
    return root


def refusal(path: Path | str) -> TfdbgError:
    with pytest.raises(TfdbgError) as caught:
        open_path(path)
    assert caught.value.exit_code == 1 and caught.value.hint
    return caught.value


def test_one_run(tmp_path: Path) -> None:
    opened = open_path(small_dump(tmp_path))
    assert (opened.path, len(opened.runs), opened.current) == (str(tmp_path), 1, 0)
    assert len(opened.runs[0].tensors) == 4


def test_a_session_root_in_order_of_number(tmp_path: Path) -> None:
    opened = open_path(str(session_root(tmp_path)))
    assert [run.call.number for run in opened.runs] == [1, 3, 10, 11]
    assert [run.tensors[0].node for run in opened.runs] == ["n0", "n2", "n9", "n10"]
    assert opened.runs[-1].tensors[0].node == "n10"
    assert [run.call.number for run in opened.runs[1:3]] == [3, 10]
    with pytest.raises(IndexError):
        opened.runs[4]


def test_runs_are_read_when_looked_at_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_root(tmp_path)
    monkeypatch.setattr("tfdbg_cli.formats.dumps.reader.read_dump", lambda directory: [directory.name])
    runs = open_path(tmp_path).runs
    assert len(runs) == 4
    assert runs[1] is runs[1] and runs[1] is runs[-3]


def test_only_the_last_runs_are_kept_in_memory(tmp_path: Path) -> None:
    session_root(tmp_path, tuple(range(30)))
    runs = open_path(tmp_path).runs
    first = runs[0]
    assert [run.call.number for run in runs] == list(range(1, 31))
    assert runs[0] is not first and runs[0].call == first.call


def test_folders_of_other_names_and_unfinished_ones(tmp_path: Path) -> None:
    session_root(tmp_path, (1,))
    small_dump(tmp_path / "good_run")
    small_dump(tmp_path / "bad_run")
    small_dump(tmp_path / "other.partial-123")
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()
    names = [Path(run.origin_path).name for run in open_path(tmp_path).runs]
    assert names == ["run_1700000000000001_1", "bad_run", "good_run"]


def test_recordings_beside_runs_are_named(tmp_path: Path) -> None:
    session_root(tmp_path, (1,))
    assert not any("Beside" in note for note in open_path(tmp_path).notes)
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / layout.INDEX).touch()
    told = "Beside these runs lie recordings, each to be opened by itself: a, b."
    assert told in open_path(tmp_path).notes and told in examined(tmp_path).facts


@pytest.mark.parametrize("path", ["", " "])
def test_an_empty_path_is_not_the_folder_that_one_is_in(path: str) -> None:
    assert refusal(path).message == "The path is empty."


def test_a_run_that_dumped_nothing(tmp_path: Path) -> None:
    dump_message(tmp_path, "_tfdbg_fetches_info_", "[]")
    assert len(open_path(tmp_path).runs[0].tensors) == 0


def test_no_such_path(tmp_path: Path) -> None:
    assert "There is no" in refusal(tmp_path / "none").message


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = refusal(tmp_path / "file")
    assert "is a file" in error.message and "dump directory" in error.hint
    assert "is a file" in refusal(tmp_path / "file" / "below").message


def test_of_a_file_that_is_empty_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file").message.endswith("is a file of no format that tfdbg knows: it is empty.")
    (tmp_path / "file").write_text("text")
    assert refusal(tmp_path / "file").message.endswith("is a file of no format that tfdbg knows.")


def test_what_is_neither_a_file_nor_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: a pipe was a file of no format, and of a device the permissions were to be checked."""
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    Path("graph.pb").symlink_to(os.devnull)
    kinds = {"pipe": "a pipe", "socket": "a socket", "graph.pb": "a device", os.devnull: "a device"}
    for name, kind in kinds.items():
        assert refusal(name).message == f"{name} is {kind}."
        with pytest.raises(TfdbgError, match=f"is {kind}"):
            examined(name)


def test_links_that_lead_around_are_no_matter_of_permissions(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for path in (tmp_path / "a", tmp_path / "a" / "below"):
        assert refusal(path).message == f"Cannot read {path}: {os.strerror(errno.ELOOP)}."
        assert refusal(path).hint == "Check where its links lead."


def test_a_folder_that_nobody_may_read_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: object) -> list[str]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "listdir", refused)
    assert refusal(tmp_path).hint == "Check its permissions."


def test_a_file_of_a_dump_names_the_dump(tmp_path: Path) -> None:
    path = dump_tensor(tmp_path / "run", "scope/x", 1)
    assert f"open {tmp_path / 'run'}." in refusal(path).hint


def test_a_part_of_a_dump_names_the_dump(tmp_path: Path) -> None:
    dump_tensor(tmp_path / "run", "x", 1)
    error = refusal(tmp_path / "run" / directory_of(CPU0))
    assert "one device" in error.message and str(tmp_path / "run") in error.hint


def test_an_empty_folder(tmp_path: Path) -> None:
    assert "is empty" in refusal(tmp_path).message


def test_a_foreign_folder_says_what_opens(tmp_path: Path) -> None:
    (tmp_path / "model.ckpt").touch()
    error = refusal(tmp_path)
    assert "no runs" in error.message and "_tfdbg_device_" in error.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0)
    assert "Cannot read" in refusal(tmp_path / "locked").message


def test_an_unreadable_folder_whoever_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(place: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    assert "Permission denied" in refusal(tmp_path).message


def test_the_home_folder_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    small_dump(tmp_path / "dump")
    assert len(open_path("~/dump").runs) == 1


def test_a_folder_of_many_runs_is_listed_without_a_look_at_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand runs: what the folder itself tells of its entries is enough."""
    for number in range(5):
        (tmp_path / f"run_{1700000000000000 + number}_{number}").mkdir()
    (tmp_path / "run_1700000000000009_9").symlink_to(tmp_path / "run_1700000000000000_0")
    (tmp_path / "run_1700000000000008_8").write_text("no folder")

    def looked(self: Path, *arguments: object, **more: object) -> None:
        raise AssertionError(f"{self} was looked at")

    monkeypatch.setattr(Path, "is_dir", looked)
    monkeypatch.setattr(Path, "is_symlink", looked)
    monkeypatch.setattr(Path, "stat", looked)
    assert len(open_path(tmp_path).runs) == 5
