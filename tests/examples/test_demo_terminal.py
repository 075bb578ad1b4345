"""`make demo` in a terminal: the full screen opens on the origin by itself, and the training goes on afterwards."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from terminal_session import TerminalSession

pytestmark = [pytest.mark.tf, pytest.mark.terminal]

DEMO = (sys.executable, "-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", "-m", "tfdbg_cli.examples.classifier")


@pytest.mark.parametrize(("cols", "rows"), [(80, 24), (200, 60)])
def test_the_demo_opens_the_screen_on_the_origin(cols: int, rows: int, tmp_path: Path) -> None:
    session = TerminalSession(DEMO, cols, rows, {"HOME": str(tmp_path), "TF_CPP_MIN_LOG_LEVEL": "3"})
    session.wait("Log of 0", 120)
    session.wait("q leave")
    screen = session.text()
    assert "Origin    cross_entropy/Log:0" in screen
    assert re.search(r"Made at .*classifier\.py:\d+ in cross_entropy", screen)
    assert re.search(r"Batch +rows? \d+.* of 100", screen)  # which one depends on how this machine rounds
    assert all(len(line) <= cols for line in screen.splitlines())

    session.send("q")
    session.wait("How do you want to leave?")
    session.send("d")
    assert session.finish(120) == 0
    assert "step  60: loss nan" in session.raw
    assert session.raw.count("\x1b[?1049h") == session.raw.count("\x1b[?1049l") == 1
