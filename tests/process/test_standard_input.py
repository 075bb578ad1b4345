"""A standard input that notices whether the program reads it, seen by programs in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tfdbg_cli.process.standard_input import is_taken, notice_readers, reader

PROGRAM = """
import sys
from tfdbg_cli.process.standard_input import command_line, is_taken, notice_readers
before = (type(sys.stdin), sys.stdin.name, sys.stdin.mode, sys.stdin.encoding, sys.stdin.errors, sys.stdin.newlines,
          type(sys.stdin.buffer), sys.stdin.fileno(), sys.stdin.line_buffering, sys.stdin.isatty())
notice_readers()
assert sys.stdin is sys.__stdin__
after = (type(sys.stdin), sys.stdin.name, sys.stdin.mode, sys.stdin.encoding, sys.stdin.errors, sys.stdin.newlines,
         type(sys.stdin.buffer), sys.stdin.fileno(), sys.stdin.line_buffering, sys.stdin.isatty())
assert before == after, (before, after)
assert not is_taken()
found = COMMAND
taken = is_taken()
print(taken, repr(found), repr(READ), is_taken())
"""


def _printed(given: str, read: str, command: str = "None") -> str:
    text = PROGRAM.replace("READ", read).replace("COMMAND", command)
    done = subprocess.run([sys.executable, "-c", text], input=given, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("read", "gives"),
    [
        ("input()", "'a'"),
        ("sys.stdin.readline()", r"'a\n'"),
        ("next(iter(sys.stdin))", r"'a\n'"),
        ("sys.stdin.read()", r"'a\nb\n'"),
        ("sys.stdin.buffer.read()", r"b'a\nb\n'"),
        ("sys.stdin.buffer.raw.read(1)", "b'a'"),
        ("open(0).read(0)", "''"),
    ],
)
def test_whatever_the_program_reads_by_is_noticed(read: str, gives: str) -> None:
    taken = "open" not in read
    assert _printed("a\nb\n", read) == f"False None {gives} {taken}"


def test_what_we_read_is_not_taken_for_the_programs() -> None:
    assert _printed("a\nb\n", "None", "command_line()") == r"False 'a\n' None False"


@pytest.mark.parametrize(
    ("read", "gives"),
    [
        ("[input(), input()]", "['ä', 'b']"),
        ("sys.stdin.read()", r"'ä\nb\n'"),
        ("sys.stdin.readlines()", r"['ä\n', 'b\n']"),
        ("sys.stdin.buffer.read1(1)", r"b'\xc3'"),
        ("sys.stdin.buffer.raw.read(9)", r"b'\xc3\xa4\n'"),
        ("sys.stdin.buffer.raw.readall()", r"b'\xc3\xa4\nb\n'"),
    ],
)
def test_what_we_read_is_the_programs_all_the_same(read: str, gives: str) -> None:
    """A blind test: what stood in the pipe was taken for commands, and was missing where the program came to read."""
    assert _printed("ä\nb\n", read, "command_line()") == rf"False 'ä\n' {gives} True"


def test_no_more_is_read_than_a_command_since_processes_share_the_pipe() -> None:
    program = "import subprocess; subprocess.run(['cat'])"
    assert _printed("a\nb\nc\n", f"exec({program!r})", "command_line()").startswith("b\nc\n")


def test_elsewhere_nothing_is_exchanged() -> None:
    before = sys.stdin
    notice_readers()
    assert sys.stdin is before
    assert not is_taken() and not reader()
