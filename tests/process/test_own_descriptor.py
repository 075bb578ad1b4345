"""Descriptors of ours that the program closes: what it opens by their numbers is left alone."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tfdbg_cli.process.own_descriptor import (
    LostDescriptorError,
    OwnDescriptor,
    OwnSocket,
    descriptors_of,
    settled_before_closing,
)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT)


def test_what_the_program_opened_by_its_number_is_neither_written_nor_closed(tmp_path: Path) -> None:
    ours = OwnDescriptor(_opened(tmp_path / "ours"))
    number = ours.number
    os.close(number)
    number_of_theirs = _opened(tmp_path / "theirs")
    theirs = os.dup(number_of_theirs)
    os.dup2(theirs, number)
    assert ours.lost
    with pytest.raises(LostDescriptorError, match="the program has closed"):
        os.write(ours.number, b"text")
    ours.close()
    assert os.fstat(number).st_ino == os.fstat(theirs).st_ino, "it is open"
    for descriptor in {number, theirs, number_of_theirs}:
        os.close(descriptor)


def test_one_that_is_there_is_closed(tmp_path: Path) -> None:
    ours = OwnDescriptor(_opened(tmp_path / "ours"))
    number = ours.number
    ours.close()
    assert ours.lost
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(number)
    ours.close()


def test_those_that_sqlite_holds_are_found(tmp_path: Path) -> None:
    index = sqlite3.connect(tmp_path / "index")
    index.execute("CREATE TABLE runs (number)")
    held = descriptors_of(tmp_path / "index")
    assert held and not any(one.lost for one in held)
    index.close()
    assert all(one.lost for one in held)
    assert descriptors_of(tmp_path / "missing") == ()


def test_what_is_being_written_is_waited_for_before_the_program_closes_all(tmp_path: Path) -> None:
    plain, said = os.closerange, []
    undo = settled_before_closing(lambda: said.append("settled"))
    os.closerange(9000, 9001)
    assert said == ["settled"]
    child = os.fork()
    if not child:
        os.closerange(9000, 9001)
        os._exit(len(said))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1, "a child settles nothing"
    undo()
    assert os.closerange is plain
    os.closerange(9000, 9001)
    assert said == ["settled"]


def test_a_socket_whose_number_is_another_files_reads_nothing_of_it(tmp_path: Path) -> None:
    one, other = socket.socketpair()
    ours = OwnSocket(one)
    number = one.fileno()
    theirs = _opened(tmp_path / "theirs")
    os.write(theirs, b"theirs")
    os.dup2(theirs, number)
    with pytest.raises(LostDescriptorError):
        ours.ours.recv(10)
    ours.close()
    assert os.fstat(number).st_ino == os.fstat(theirs).st_ino
    for descriptor in (number, theirs):
        os.close(descriptor)
    other.close()


def test_a_recording_leaves_the_files_alone_that_the_program_opens_when_it_has_closed_all_others(
    tmp_path: Path,
) -> None:
    """A blind test: the rows of a recording were written into a file of the program's, and another one was closed."""
    program = """
import os, sys
from support import sample_run
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.writer import RecordingWriter
writer = RecordingWriter(__import__("pathlib").Path("recording"))
writer.write(sample_run.run_end().run)
os.closerange(3, 64)
files = [open(f"m{at}", "w+") for at in range(12)]
try:
    writer.write(sample_run.run_end().run)
except TfdbgError as error:
    print(error)
try:
    writer.close()
except TfdbgError:
    pass
for at, file in enumerate(files):
    file.write(f"line {at}")
    file.close()
"""
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "The program has closed the files of the recording in recording" in done.stdout
    assert [(tmp_path / f"m{at}").read_text() for at in range(12)] == [f"line {at}" for at in range(12)]
    from tfdbg_cli.formats.opening import open_path

    assert len(open_path(str(tmp_path / "recording")).runs) == 1, "what was written before is there"
