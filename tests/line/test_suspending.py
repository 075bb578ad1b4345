"""Ctrl-Z at the line prompt: whose the terminal is meanwhile, and what is drawn after `fg`."""

from __future__ import annotations

import io
import os
import pty
import signal
import sys
import termios
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.line import editing, suspending
from tfdbg_cli.line.input import TerminalInput
from tfdbg_cli.line.suspending import suspendable


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal as standard input, in the mode of a shell that runs a program."""
    master, slave = pty.openpty()
    with os.fdopen(slave, closefd=True) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield slave
    os.close(master)


def _set_echo(terminal: int, *, on: bool) -> None:
    mode = termios.tcgetattr(terminal)
    mode[3] = mode[3] | termios.ECHO if on else mode[3] & ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, mode)


def _echoes(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def test_the_shell_gets_its_terminal_and_the_prompt_comes_back(terminal: int, monkeypatch) -> None:
    """Neither was drawn, and keys went to a terminal that was no more as readline had set it."""
    seen = []

    def stopped(process: int, number: int) -> None:
        assert (process, number, signal.getsignal(number)) == (os.getpid(), signal.SIGTSTP, signal.SIG_DFL)
        seen.append(_echoes(terminal))

    monkeypatch.setattr(suspending.os, "kill", stopped)
    drawn = io.StringIO()
    with suspendable("tfdbg> ", drawn, lambda: "pt lo"):
        _set_echo(terminal, on=False)  # as readline does
        for _ in range(2):
            signal.raise_signal(signal.SIGTSTP)
            assert not _echoes(terminal)
    assert seen == [True, True]
    assert drawn.getvalue() == "\rtfdbg> pt lo" * 2
    assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL


@pytest.mark.parametrize("aside", [False, True])
def test_the_prompt_of_a_person_is_suspended_so(terminal: int, monkeypatch, capsys, *, aside: bool) -> None:
    drawn = []

    def typed(*_: object) -> str:
        capsys.readouterr()
        assert signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL  # else what runs the tests stops
        signal.raise_signal(signal.SIGTSTP)
        drawn.append(capsys.readouterr())
        return "pt loss\n" if aside else "pt loss"

    monkeypatch.setattr(suspending.os, "kill", lambda *_: None)
    monkeypatch.setattr(editing, "typed_by_now", lambda: "pt lo")
    monkeypatch.setattr("builtins.input", typed)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(fileno=lambda: terminal, readline=typed))
    assert TerminalInput(History(), editing=True, aside=aside).read() == "pt loss"
    [streams] = drawn
    # Beside answers that go elsewhere the terminal edits what is typed, and keeps it.
    assert (streams.out, streams.err) == (("", "\rtfdbg> ") if aside else ("\rtfdbg> pt lo", ""))
    assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL


def test_a_handler_of_the_program_and_other_threads_are_left_alone(terminal: int) -> None:
    def theirs(*_: object) -> None:
        pass

    signal.signal(signal.SIGTSTP, theirs)
    try:
        with suspendable("tfdbg> ", io.StringIO(), str):
            assert signal.getsignal(signal.SIGTSTP) is theirs
    finally:
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    found = []

    def elsewhere() -> None:
        with suspendable("tfdbg> ", io.StringIO(), str):
            found.append(signal.getsignal(signal.SIGTSTP))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL]


def test_without_a_terminal_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with suspendable("tfdbg> ", io.StringIO(), str):
        assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
