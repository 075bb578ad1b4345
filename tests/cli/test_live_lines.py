"""`--live` where there is no terminal for it, or none that is large enough."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest
from support.launched import ROOT

from tfdbg_cli.cli.main import main


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_it_needs_a_terminal(term, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("os.isatty", lambda descriptor: False)
    (tmp_path / "x.py").write_text("")
    assert main(["run", "--live", "x.py"]) == 1
    assert "--live draws on a terminal, and neither standard error nor output is one." in capsys.readouterr().err


def test_a_terminal_that_is_too_small_is_told(tmp_path) -> None:
    (tmp_path / "x.py").write_text("print('ends')")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 80, 0, 0))
    words = [sys.executable, "-m", "tfdbg_cli", "run", "--live", "--trends", "x.py"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    done = subprocess.run(
        words, cwd=tmp_path, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, check=False
    )
    said = os.read(ours, 1 << 16).decode()
    assert (done.returncode, done.stdout) == (0, b"ends\n")
    assert "--live draws nothing while the terminal has fewer than 11 lines or 20 columns; it has 10 and 80." in said
    os.close(ours)
    os.close(theirs)
