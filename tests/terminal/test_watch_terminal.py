"""A watch on a real terminal: the line that says how it goes, and Ctrl-C."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest
from support.warm_python import HeavySpawn

from tfdbg_cli.debugger.progress_line import bytes_written

pytestmark = pytest.mark.terminal

HERE = Path(__file__).parent
PROMPT = "tfdbg> "


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    children = []

    def begin(*arguments: str) -> Any:
        given = {
            **os.environ, "HOME": str(tmp_path), "TERM": "xterm", "PYTHONPATH": str(HERE.parent.parent),
            "NO_COLOR": "1", "INPUTRC": "/dev/null", "TF_CPP_MIN_LOG_LEVEL": "3",
        }  # fmt: skip
        child = HeavySpawn(  # a watch imports TensorFlow where it begins
            sys.executable, [str(HERE.parent / "support" / "watch_session.py"), *arguments],
            env=given, encoding="utf-8", timeout=120, dimensions=(24, 80),
        )  # fmt: skip
        children.append(child)
        child.expect_exact("--- run-start: run #1")
        child.expect_exact(PROMPT)
        return child

    yield begin
    for child in children:
        child.close(force=True)


def _say(child: Any, command: str) -> None:
    child.sendline(command)
    child.expect_exact(command)


def test_ctrl_c_opens_the_prompt_after_the_run_and_the_program_lives_on(start: Callable[..., Any]) -> None:
    child = start()
    _say(child, "run -f has_inf_or_nan --keep 2")
    child.expect(r"no has_inf_or_nan in [\d,]+ runs, [\d.]+/s, \d+ s")
    child.sendintr()
    child.expect_exact("The prompt opens after this run.")
    child.expect_exact("--- run-end: run #")
    child.expect("Ctrl-C ended the watch: nothing passed has_inf_or_nan in [0-9,]+ runs")
    child.expect_exact(PROMPT)
    _say(child, "older")
    child.expect_exact("kept from before run #")
    child.expect_exact(PROMPT)
    _say(child, "history y")
    child.expect_exact("in 3 runs")
    child.expect_exact(PROMPT)
    _say(child, "run -f has_inf_or_nan")
    child.expect("no has_inf_or_nan in")
    child.sendintr()
    child.expect_exact(PROMPT)
    _say(child, "continue")
    child.expect_exact("not watched")  # a Ctrl-C before that would be one at the prompt
    child.sendintr()
    child.expect_exact("interrupted as ever")
    child.expect(pexpect.EOF)


def test_ctrl_c_opens_the_prompt_of_a_thread_while_the_main_one_sleeps(start: Callable[..., Any]) -> None:
    child = start("thread")
    _say(child, "run -f has_inf_or_nan")
    child.expect_exact("no has_inf_or_nan in")
    child.sendintr()
    child.expect_exact("Ctrl-C ended the watch")
    child.expect_exact(PROMPT)
    _say(child, "continue")
    child.expect_exact("not watched")
    child.sendintr()
    child.expect_exact("interrupted as ever")


def test_a_handler_of_the_programs_own_gets_ctrl_c(start: Callable[..., Any]) -> None:
    child = start("own")
    _say(child, "run -f has_inf_or_nan")
    child.expect_exact("no has_inf_or_nan in")
    child.sendintr()
    child.expect_exact("their handler")
    child.sendintr()
    child.expect_exact("their handler")


def test_the_line_is_rewritten_in_its_place(start: Callable[..., Any]) -> None:
    if bytes_written() is None:
        pytest.skip("this system does not tell what a process wrote")
    child = start()
    screen = pyte.Screen(80, 24)
    stream = pyte.Stream(screen)
    child.sendline("run -f has_inf_or_nan")
    for _ in range(3):
        child.expect(r"no has_inf_or_nan in [\d,]+ runs?,[^\r\n]*\r\n")
        stream.feed(child.before + child.after)
    rows = [row for row in screen.display if "no has_inf_or_nan in" in row]
    assert len(rows) == 1, screen.display


def test_what_the_program_prints_is_left_whole(start: Callable[..., Any]) -> None:
    child = start("prints")
    child.sendline("run -f has_inf_or_nan")
    child.expect_exact("step 150\r\n")
    assert "no has_inf" not in child.before, "the first line comes after half a minute where the program writes"
    assert "\x1b[1A" not in child.before
    printed = [row for row in child.before.split("\r\n") if row.startswith("step ")]
    assert printed == [f"step {number}" for number in range(1, 150)]
