"""The line prompt on a real terminal: editing, history, completion, Ctrl-C, Ctrl-D."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pexpect
import pytest
from support.warm_python import WarmSpawn

pytestmark = pytest.mark.terminal

HERE = Path(__file__).parent


@pytest.fixture
def start(tmp_path):
    children = []

    def begin(*command: str, **environ: str) -> pexpect.spawn:
        given = {
            **os.environ, "HOME": str(tmp_path), "TERM": "xterm", "PYTHONPATH": str(HERE.parent.parent),
            "NO_COLOR": "1", "INPUTRC": "/dev/null", **environ,
        }  # fmt: skip
        child = WarmSpawn(
            sys.executable, list(command) or [str(HERE.parent / "support" / "line_session.py")],
            env=given, encoding="utf-8", timeout=120, dimensions=(24, 100),
        )  # fmt: skip
        children.append(child)
        return child

    yield begin
    for child in children:
        child.close(force=True)


def _ends(child: pexpect.spawn) -> int | None:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def test_two_stops_and_then_the_program_has_its_terminal_back(start, tmp_path) -> None:
    child = start()
    child.expect("--- run-start: run #3")
    child.expect_exact("tfdbg> ")
    child.sendline("version")
    child.expect(r"numpy +\d")
    child.expect_exact("tfdbg> ")
    child.sendline("run")
    child.expect("decision: DebugRun")
    child.expect("--- run-end: run #3")
    child.expect_exact("tfdbg> ")
    child.sendline("continue")
    child.expect("decision: Continue")
    child.expect_exact("their question? ")
    child.sendline("fine")
    child.expect("answer: fine")
    assert _ends(child) == 0
    kept = (tmp_path / ".local/state/tfdbg_cli/history").read_text()
    assert kept == "version\nrun\ncontinue\n"


def test_tab_completes_and_up_brings_back_what_was_typed(start) -> None:
    child = start()
    child.expect_exact("tfdbg> ")
    child.send("vers\t")
    child.expect_exact("version")
    child.sendline("")
    child.expect("python +3")
    child.expect_exact("tfdbg> ")
    child.send("\x1b[A\r")
    child.expect("python +3")
    child.expect_exact("tfdbg> ")
    child.sendline("run")
    child.expect_exact("tfdbg> ")
    child.send("ni dense/M\t")
    child.expect_exact("dense/MatMul")
    child.send("\x15")
    child.send("eval `loss/Lo\t + 1")
    child.expect_exact("`loss/Log:0` + 1")
    child.sendcontrol("u")
    child.sendline("detach")
    child.expect("decision: Detach")


def _interrupt(child: pexpect.spawn) -> None:
    """Ctrl-C, as soon as the process waits for a key: Python's readline loses one between two keys until the next."""
    state = Path(f"/proc/{child.pid}/stat")
    deadline = time.monotonic() + child.timeout
    while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.sendintr()


def test_ctrl_c_clears_the_line_and_twice_asks_how_to_leave(start) -> None:
    child = start()
    child.expect_exact("tfdbg> ")
    child.send("half a comm")
    child.expect_exact("half a comm")
    _interrupt(child)
    child.expect("Ctrl-C again asks how to leave")
    child.expect_exact("tfdbg> ")
    child.sendline("version")
    child.expect("python +3")
    child.expect_exact("tfdbg> ")
    _interrupt(child)
    child.expect("Ctrl-C again")
    child.expect_exact("tfdbg> ")
    _interrupt(child)
    child.expect_exact("Leave: ")
    child.sendline("s")
    child.expect_exact("tfdbg> ")
    child.sendline("exit")
    child.expect_exact("Leave: ")
    child.sendline("a")
    child.expect("decision: Abort")
    assert "their handler" not in (child.before or "")


def test_ctrl_d_detaches(start) -> None:
    """Defect of TensorFlow's prompt: EOF was not handled."""
    child = start()
    child.expect_exact("tfdbg> ")
    child.sendeof()
    child.expect("Detached: the program goes on undebugged.")
    child.expect("decision: Detach")


def test_pasted_lines_are_commands_one_after_another(start) -> None:
    child = start(INPUTRC=os.devnull)
    child.expect_exact("tfdbg> ")
    child.send("\x1b[200~version\nruns\n\x1b[201~\n")
    child.expect(r"numpy +\d")
    child.expect_exact("tfdbg> runs")
    child.expect("has not happened yet")
    child.expect_exact("tfdbg> ")
    child.sendline("run")
    child.expect("decision: DebugRun")


def test_colours_on_a_terminal(start) -> None:
    child = start(NO_COLOR="", FORCE_COLOR="")
    child.expect(re.escape("\x1b[1mrun-start: run #3"))
    child.expect_exact("tfdbg> ")


def test_a_dumb_terminal_gets_the_line_prompt_and_one_sentence(start) -> None:
    program = f"import sys; sys.path.insert(0, {str(HERE.parent)!r})\nfrom support import sample_run\n"
    program += "from tfdbg_cli.api.frontends import choose_frontend\nfront = choose_frontend('curses')\n"
    program += "for i in range(2): front.stop(sample_run.run_end())"
    child = start("-c", program, TERM="dumb")
    child.expect_exact("tfdbg: The line prompt is used, since TERM is dumb.")
    child.expect_exact("tfdbg> ")
    child.sendline("run")
    child.expect_exact("tfdbg> ")
    assert "The line prompt" not in child.before
    child.sendline("detach")
    assert _ends(child) == 0


def test_a_program_in_the_background_is_not_stopped_by_the_terminal(start) -> None:
    program = (
        f"import os, sys; sys.path.insert(0, {str(HERE.parent)!r})\nfrom support import sample_run\n"
        "from tfdbg_cli.api.frontends import choose_frontend\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.setpgid(0, 0)\n"
        "    print('decision:', choose_frontend().stop(sample_run.run_start()), flush=True)\n"
        "    os._exit(0)\n"
        "print('child ended', os.waitpid(child, os.WUNTRACED)[1])\n"
    )
    child = start("-c", program)
    child.expect("No commands can be typed, since the program runs in the background: the program goes on undebugged")
    child.expect_exact("decision: Detach()")
    child.expect_exact("child ended 0")
    assert _ends(child) == 0
