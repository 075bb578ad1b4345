"""Ctrl-P, I and a row of the batch in a real pseudo terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_tui_terminal import Host

pytestmark = pytest.mark.terminal


def test_something_is_found_by_its_letters_and_ignored_and_its_row_is_seen(tmp_path: Path) -> None:
    host = Host(tmp_path, "filter")
    host.send("<ctrl p>")
    host.wait("Type letters of the name")
    host.send("lslg")
    host.wait("Enter: pt loss/Log:0")
    host.send("<enter>")
    host.wait("› pt loss/Log:0")
    host.send(":row<enter>")
    host.wait("Row 2 of 4")
    host.send(":ni loss/Log<enter>")
    host.wait("2 recipients")
    host.send("I")
    host.wait("1 ignored")
    host.wait("Take back")
    host.send("qd")
    assert host.finish() == 0
    assert host.report()["different"] == {}
