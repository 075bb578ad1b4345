"""Folders for dumps that nobody keeps, and what killed programs left of them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tfdbg_cli import scratch_folder
from tfdbg_cli.scratch_folder import ScratchFolder

_HOLD = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from tfdbg_cli.scratch_folder import ScratchFolder
held = ScratchFolder()
(held.path / "tensor").write_bytes(b"x")
print(held.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch_folder, "_swept", set())
    monkeypatch.setattr(scratch_folder, "_LEAST_AGE", -1.0)
    return tmp_path


def test_a_folder_is_there_until_it_is_deleted(place):
    one, two = ScratchFolder(), ScratchFolder()
    (one.path / "deep").mkdir()
    assert one.path != two.path
    assert one.path.stat().st_mode & 0o077 == 0
    one.delete()
    assert list(place.iterdir()) == [two.path]
    two.delete()


def test_a_folder_that_is_deleted_twice_closes_nothing_of_the_programs(place, tmp_path_factory):
    """A blind test: the number of its descriptor was closed again, which was that of another file by then."""
    once = ScratchFolder()
    once.delete()
    others = [os.open(tmp_path_factory.getbasetemp(), os.O_RDONLY) for _ in range(3)]
    try:
        once.delete()
        assert [os.path.samestat(os.fstat(other), os.stat(tmp_path_factory.getbasetemp())) for other in others] == [
            True
        ] * 3
    finally:
        for other in others:
            os.close(other)


def test_what_a_killed_program_left_is_deleted_and_what_a_living_one_holds_is_not(place):
    root = str(Path(__file__).parents[1])
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(place)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root},
        )
        for _ in range(2)
    ]  # fmt: skip
    killed, living = (Path(program.stdout.readline().strip()) for program in programs)
    programs[0].kill()
    programs[0].wait(120)
    own = ScratchFolder()
    assert not killed.exists()
    assert (living / "tensor").exists()
    programs[1].communicate(timeout=120)
    own.delete()


def test_a_folder_in_another_place_is_made_there_and_what_was_left_in_memory_goes_first(place, monkeypatch):
    memory = place / "memory"
    (memory / "tfdbg_cli_scratch_old").mkdir(parents=True)
    os.utime(memory / "tfdbg_cli_scratch_old", (0, 0))
    monkeypatch.setattr(scratch_folder, "MEMORY", memory)
    ScratchFolder().delete()
    assert not list(memory.iterdir())
    made = ScratchFolder(memory)
    assert [path for path in memory.iterdir()] == [made.path]
    made.delete()


def test_only_old_folders_of_ours_are_deleted(place, monkeypatch):
    monkeypatch.setattr(scratch_folder, "_LEAST_AGE", 600.0)
    young = place / "tfdbg_cli_scratch_young"
    dumps = place / "tfdbg_dumps"
    target = place / "target"
    old = place / "tfdbg_cli_scratch_old"
    for folder in (young, dumps, target, old):
        folder.mkdir()
    (place / "tfdbg_cli_scratch_link").symlink_to(target)
    (place / "tfdbg_cli_scratch_file").write_text("")
    for path in (dumps, target, old, place / "tfdbg_cli_scratch_file"):
        os.utime(path, (0, 0))
    ScratchFolder().delete()
    assert not old.exists()
    assert {path.name for path in place.iterdir()} == {
        "tfdbg_cli_scratch_young", "tfdbg_dumps", "target", "tfdbg_cli_scratch_link", "tfdbg_cli_scratch_file",
    }  # fmt: skip
