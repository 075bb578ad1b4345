"""Ctrl-Z and new sizes at a divided terminal: a job in a process of its own, with what a shell does around it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support.launched import ROOT

from tfdbg_cli.line.bottom_lines import GIVEN_BACK

_PATIENCE = 240.0  # seconds, after which a test fails that would wait for ever
_DIVIDED = b"\x1b[1;10r"

# The terminal is the job's, until it stops; then it is the shell's, until a line is typed.
_SHELL = """
import fcntl, os, signal, struct, subprocess, sys, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 40, 0, 0))
job = subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], preexec_fn=os.setpgrp)
while True:
    os.tcsetpgrp(0, job.pid)
    os.killpg(job.pid, signal.SIGCONT)
    os.waitpid(job.pid, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    os.write(1, b"<stopped>")
    os.read(0, 100)
"""
# An hour: what is drawn again was not drawn because it was time to.
_JOB = """
import os, signal, sys, time
from tfdbg_cli.line.bottom_lines import BottomLines
from tfdbg_cli.line.terminal_guard import TerminalGuard
from tfdbg_cli.line.terminal_signals import TerminalSignals
from tfdbg_cli.process.own_descriptor import OwnDescriptor

def handle(*_):
    os.write(1, b"<mine>")

guard = TerminalGuard(1)
if "handles" in sys.argv:
    signal.signal(signal.SIGTSTP, handle)
while os.tcgetpgrp(1) != os.getpgrp():
    time.sleep(0.01)
bottom = BottomLines(OwnDescriptor(1), 2, guard.tell, TerminalSignals(guard.pipe, guard.stops))
while True:
    bottom.draw(["one", "two"])
    assert signal.getsignal(signal.SIGTSTP) is (handle if "handles" in sys.argv else signal.SIG_DFL)
    os.write(1, b"<drawn>")
    bottom.wait(3600)
"""


class Shell:
    """The other side of its terminal."""

    def __init__(self, *words: str) -> None:
        self._pid, self.terminal = pty.fork()
        if self._pid == 0:
            os.environ["PYTHONPATH"] = str(ROOT)
            os.execv(sys.executable, [sys.executable, "-c", _SHELL, _JOB, *words])

    def until(self, *parts: bytes) -> bytes:
        """What is written, until all `parts` were."""
        said = b""
        while not all(part in said for part in parts):
            ready, _, _ = select.select([self.terminal], [], [], _PATIENCE)
            assert ready, said
            said += os.read(self.terminal, 1 << 16)
        return said

    def types(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    def end(self) -> None:
        os.close(self.terminal)  # the terminal hangs up, and all end
        os.kill(self._pid, 9)
        os.waitpid(self._pid, 0)


@contextmanager
def shell(*words: str) -> Iterator[Shell]:
    made = Shell(*words)
    try:
        yield made
    finally:
        made.end()


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_z_leaves_a_whole_terminal_and_the_lines_are_back_afterwards(times: int) -> None:
    """A blind test: the shell had a terminal of which the lowest lines did not scroll."""
    with shell() as made:
        made.until(_DIVIDED, b"<drawn>")
        for _ in range(times):
            made.types(b"\x1a")
            made.until(GIVEN_BACK.encode(), b"<stopped>")
            made.types(b"\n")
            made.until(_DIVIDED, b"one", b"two", b"<drawn>")


def test_a_handler_of_the_program_is_left_alone() -> None:
    with shell("handles") as made:
        made.until(_DIVIDED, b"<drawn>")
        made.types(b"\x1a")
        assert GIVEN_BACK.encode() not in made.until(b"<mine>")


def test_the_lines_follow_a_new_size_at_once() -> None:
    """A blind test: the program went on writing over what had been the lowest lines."""
    with shell() as made:
        made.until(_DIVIDED, b"<drawn>")
        fcntl.ioctl(made.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 40, 0, 0))
        made.until(b"\x1b[1;18r", b"<drawn>")
