"""A standard input that notices whether the program reads it, seen by programs in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tfdbg_cli.standard_input import is_taken, notice_readers, reading_commands

PROGRAM = """
import sys
from tfdbg_cli.standard_input import is_taken, notice_readers, reading_commands
before = (type(sys.stdin), sys.stdin.name, sys.stdin.mode, sys.stdin.encoding, sys.stdin.errors, sys.stdin.newlines,
          type(sys.stdin.buffer), sys.stdin.fileno(), sys.stdin.line_buffering, sys.stdin.isatty())
notice_readers()
assert sys.stdin is sys.__stdin__
after = (type(sys.stdin), sys.stdin.name, sys.stdin.mode, sys.stdin.encoding, sys.stdin.errors, sys.stdin.newlines,
         type(sys.stdin.buffer), sys.stdin.fileno(), sys.stdin.line_buffering, sys.stdin.isatty())
assert before == after, (before, after)
assert not is_taken()
with reading_commands():
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
    assert _printed("a\nb\n", "None", "sys.stdin.readline()") == r"False 'a\n' None False"


def test_elsewhere_nothing_is_exchanged() -> None:
    before = sys.stdin
    notice_readers()
    with reading_commands():
        assert sys.stdin is before
    assert not is_taken()
