"""Folders that appear whole: whoever is killed, fails or comes at the same time, nothing that was there is lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.writing import cannot_write, is_unfinished, whole_directory

# Replaces a folder in child processes, of which the n-th is killed as it changes something on the disk for the n-th
# time, until one lives to the end. Each has a folder of its own.
_KILLED_EVERYWHERE = """
import os, secrets, sys
from pathlib import Path
from tfdbg_cli.formats.recording.writing import whole_directory

CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "open"}
for step in range(1000):
    target = Path(sys.argv[1], str(step), "bundle")
    target.mkdir(parents=True)
    for name in ("a", "b"):
        (target / name).write_text("old")
    child = os.fork()
    if not child:
        left = [step]
        def hook(event, given):
            if event in CHANGES and not left[0]:
                os._exit(1)
            left[0] -= event in CHANGES
        sys.addaudithook(hook)
        with whole_directory(target) as place:
            for name in ("a", "b"):
                (place / name).write_text("new")
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def _held(folder: Path) -> set[str]:
    """What the two files in `folder` hold; nothing where it is not whole."""
    files = [folder / name for name in ("a", "b")]
    return {file.read_text() for file in files} if all(file.is_file() for file in files) else set()


def test_wherever_a_process_is_killed_the_old_folder_is_there_or_the_new_one(tmp_path: Path) -> None:
    """A blind test: the old one was removed before the new one had its name."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", _KILLED_EVERYWHERE, str(tmp_path)], env=environment, check=True)
    killed = sorted(tmp_path.iterdir(), key=lambda place: int(place.name))
    for place in killed:
        target = place / "bundle"
        others = [found for found in place.iterdir() if found != target]
        assert all(is_unfinished(other.name) for other in others), others
        kept = [target] if target.exists() else [other for other in others if ".replaced-" in other.name]
        assert [_held(folder) for folder in kept] in ([{"old"}], [{"new"}]), place
    assert _held(killed[-1] / "bundle") == {"new"} and len(list(killed[-1].iterdir())) == 1
    assert len(killed) > 8, "it changes that much, at least"


def test_a_folder_that_is_being_written_is_not_the_one_of_another_thread(tmp_path: Path) -> None:
    """A blind test: both had the number of the process in their names, and the second removed the first's files."""
    target = tmp_path / "bundle"
    with whole_directory(target) as first:
        (first / "a").write_text("first")
        with whole_directory(target) as second:
            (second / "a").write_text("second")
        assert (target / "a").read_text() == "second"
    assert (target / "a").read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [OSError("no"), KeyboardInterrupt()], ids=lambda error: type(error).__name__)
def test_where_the_new_folder_does_not_get_its_name_the_old_one_has_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    target = tmp_path / "bundle"
    target.mkdir()
    (target / "a").write_text("old")
    rename = Path.rename

    def failing(source: Path, to: Path) -> Path:
        if ".partial-" in source.name:
            raise error
        return rename(source, to)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises((TfdbgError, KeyboardInterrupt)), whole_directory(target) as place:
        (place / "a").write_text("new")
    assert list(tmp_path.iterdir()) == [target]
    assert (target / "a").read_text() == "old"


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.EACCES, "Choose a folder that you may write to."),
        (errno.EROFS, "Choose a folder that you may write to."),
        (errno.ENOTDIR, "Choose another folder."),
        (errno.EFBIG, "No file may grow that large here: `ulimit -f` tells the limit"),
    ],
)
def test_the_hint_fits_what_is_wrong(number: int, hint: str) -> None:
    """A blind test: under a limit on the size of files, a folder that may be written to was called for."""
    said = cannot_write(Path("runs"), OSError(number, os.strerror(number)))
    assert said.message == f"Cannot write runs: {os.strerror(number)}." and said.hint.startswith(hint)
