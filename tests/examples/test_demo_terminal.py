"""`make demo` and `make demo-session` in a terminal: the screen opens on the origin, and the training goes on."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.package_source import PROJECT
from support.warm_session import HeavySession

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from terminal_session import TerminalSession

pytestmark = [pytest.mark.tf, pytest.mark.terminal]


@dataclass(frozen=True)
class Demo:
    """What the screen of a demo shows, and what the program has printed at its end."""

    example: str
    cause: str
    origin: str
    made_at: str
    rows: int
    prints: str


DEMOS = {
    "DEMO": Demo("keras_fit", "0 / 0", r"Origin .*centre_1/truediv:0", r"keras_fit\.py:\d+ in call", 50, "Epoch 2/2"),
    "DEMO_SESSION": Demo(
        "classifier",
        "Log of 0",
        r"Origin +cross_entropy/Log:0",
        r"classifier\.py:\d+ in cross_entropy",
        100,
        "step  60: loss nan",
    ),
}


@pytest.mark.parametrize("variable", DEMOS)
def test_the_makefile_debugs_this_program(variable: str) -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    assert f"\n{variable} := tfdbg_cli.examples.{DEMOS[variable].example}\n" in makefile
    assert makefile.count("-m tfdbg_cli run --watch ") == 2


@pytest.mark.parametrize(
    ("variable", "first", "second"), [("DEMO", (80, 24), (200, 60)), ("DEMO_SESSION", (200, 60), (80, 24))]
)
def test_the_demo_opens_the_screen_on_the_origin(
    variable: str, first: tuple[int, int], second: tuple[int, int], tmp_path: Path
) -> None:
    demo = DEMOS[variable]
    command = (sys.executable, "-m", "tfdbg_cli", "run", "--watch", "-m")
    session = HeavySession(
        (*command, f"tfdbg_cli.examples.{demo.example}"),
        *first,
        {"HOME": str(tmp_path), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    session.wait(demo.cause, 120)
    session.wait(lambda: _on_the_origin(session, demo, *first))
    for size in (second, first):
        session.resize(*size)
        session.wait(lambda size=size: _on_the_origin(session, demo, *size))

    session.send("G")  # the end, where the rows are
    session.wait("Batch")
    batch = rf"Batch +rows? \d+.* of {demo.rows}"  # which one depends on how this machine rounds
    assert re.search(batch, session.text()), session.text()

    session.send("q")
    session.wait("How do you want to leave?")
    session.send("d")
    assert session.finish(120) == 0
    assert demo.prints in session.raw
    assert session.raw.count("\x1b[?1049h") == session.raw.count("\x1b[?1049l") == 1


def _on_the_origin(session: TerminalSession, demo: Demo, cols: int, rows: int) -> bool:
    screen = session.text()
    lines = screen.splitlines()
    shown = (re.escape(demo.cause), demo.origin, rf"Made at .*{demo.made_at}")
    whole = "q leave" in session.screen.display[rows - 1] and all(len(line) <= cols for line in lines)
    return whole and all(re.search(pattern, screen) for pattern in shown)
