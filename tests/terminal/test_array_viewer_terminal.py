"""The array viewer in a real pseudo terminal, with colours and without, and where only ASCII shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.warm_session import WarmSession

pytestmark = pytest.mark.terminal
HOST = Path(__file__).parents[1] / "support" / "tui_host.py"


def _open(tmp_path, **env):
    command = [sys.executable, str(HOST), "arrays", str(tmp_path / "report.json")]
    session = WarmSession(command, 80, 24, env={"HOME": str(tmp_path), **env})
    session.wait("q leave")
    return session


def test_a_nan_is_gone_to_and_looked_at_in_every_way(tmp_path):
    session = _open(tmp_path, TERM="xterm-256color", FORCE_COLOR="3")
    session.send("v")
    session.wait("x:0 [0, 0, :, :]  axis 1 0/20")
    session.send("]n")
    session.wait("[3, 17, 4, 0]  nan")
    for key, shown in (("2", "heatmap"), ("3", "picture"), ("4", "histogram"), ("5", "line"), ("6", "health")):
        session.send(key)
        session.wait(shown)
    session.send("3")
    session.wait("▀")
    assert ";48;2;" in session.raw, "true colours where the terminal has them"
    session.send(">")
    session.wait("[3, :, :, 1]")
    session.send("1")
    session.wait("numbers")
    session.send("/=1234<enter>")
    session.wait("[3, 8, 3, 1]  1234.")
    session.send("<esc><esc>")
    session.wait("Enter: pt x:0")
    session.send("qd")
    assert session.finish() == 0


def test_without_colours_and_in_ascii_a_nan_is_told_from_numbers(tmp_path):
    session = _open(tmp_path, TERM="xterm", NO_COLOR="1", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    session.send("v]n2")
    session.wait("xx")
    assert "38;" not in session.raw
    session.send("5")
    session.wait("*")
    assert session.text().isascii()
    session.send("<esc>")
    session.wait("Enter: pt x:0")
    session.send("qd")
    assert session.finish() == 0
