"""The panes in a real pseudo terminal: walking, a border that the mouse drags, programs that get the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.warm_session import WarmSession

pytestmark = pytest.mark.terminal
HOST = Path(__file__).parents[1] / "support" / "tui_host.py"


def _open(tmp_path, cols=160, rows=45, **env):
    command = [sys.executable, str(HOST), "panes", str(tmp_path / "report.json")]
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "TERM": "xterm-256color"}
    session = WarmSession(command, cols, rows, env={**home, **env})
    session.wait("q leave")
    return session


def _mouse(kind, col, row):
    """A mouse report as terminals send it: 0 pressed, 32 dragged, M for both and m when it is let go."""
    return f"\x1b[<{32 if kind == 'drag' else 0};{col + 1};{row + 1}{'m' if kind == 'release' else 'M'}"


def test_the_preview_follows_and_its_border_is_dragged_and_remembered(tmp_path):
    session = _open(tmp_path)
    session.wait("│ x:0")
    session.send("j" * 7)
    session.wait("│ big:0")
    session.wait("▀")
    session.send("<tab>")
    session.wait("│▸big:0")
    for kind, col in (("press", 95), ("drag", 110), ("drag", 120), ("release", 120)):
        session.child.send(_mouse(kind, col, 20))  # at once: one report is one key
    session.wait("preview: 25 percent")
    session.send("z")
    session.wait("z shows the others")
    session.send("z")
    session.wait("│▸big:0")
    for key, said in (("+", "preview: 30 percent"), ("-", "preview: 25 percent")):
        session.send(key)
        session.wait(said)
    for side in ("right", "left", "below", "off", "auto"):
        session.send("|")
        session.wait(f"preview: {side}")
    session.send("qd")
    assert session.finish() == 0
    assert "preview_share = 25" in next((tmp_path / "config").rglob("*.toml")).read_text()


def test_below_the_list_where_the_screen_is_high(tmp_path):
    session = _open(tmp_path, 100, 45)
    session.wait("── preview ──")
    session.send("j]b")
    session.wait("Enter: pt spectrum:0")
    session.resize(100, 30)
    session.wait(lambda: "── preview ──" not in session.text())
    session.send("qd")
    assert session.finish() == 0


def test_an_editor_and_a_shell_get_the_terminal_and_give_it_back(tmp_path):
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "EDITS $1"\necho "$1 $2" > {tmp_path}/edited\nread answer\n')
    editor.chmod(0o755)
    shell = tmp_path / "shell"
    shell.write_text('#!/bin/sh\necho "A SHELL"\nread answer\n')
    shell.chmod(0o755)
    session = _open(tmp_path, EDITOR=str(editor), VISUAL="", SHELL=str(shell))
    session.send("e")
    session.wait("EDITS +")
    session.send("<enter>")
    session.wait("q leave")
    assert "tui_host.py" in (tmp_path / "edited").read_text()
    session.send("!")
    session.wait("A SHELL")
    session.send("<enter>")
    session.wait("q leave")
    session.send("j")
    session.wait("Enter: pt y:0")
    session.send("qd")
    assert session.finish() == 0
