"""A program that a Ctrl-C ends dies of it, as the shell that started it wants to know."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_PROGRAM = """
from tfdbg_cli.process.program_end import at_the_end, interrupted
at_the_end(lambda: exec("1"))  # as a module with a dataclass does that is loaded then
{told}
raise {error}
"""


@pytest.mark.parametrize(
    ("told", "error", "code"),
    [
        ("", "KeyboardInterrupt", -signal.SIGINT),
        (
            "interrupted()\nimport sys\nsys.excepthook = lambda *_: sys.stderr.write('KeyboardInterrupt')",
            "KeyboardInterrupt",
            -signal.SIGINT,
        ),
        ("", "ValueError", 1),
    ],
)
def test_what_is_loaded_at_the_end_leaves_its_signal(told: str, error: str, code: int) -> None:
    """A blind test: behind two Ctrl-C in the full screen's watch the exit code was 1."""
    text = _PROGRAM.format(told=told, error=error)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert error in done.stderr


def test_one_that_ended_a_line_of_a_prompt_is_not_the_end_of_the_program() -> None:
    text = "from tfdbg_cli.process.program_end import at_the_end\nat_the_end(print)\nraise KeyboardInterrupt\n"
    done = subprocess.run(
        [sys.executable, "-i", "-c", text], capture_output=True, text=True, check=False, input="1\n"
    )
    assert done.returncode == 0
    console = "import code\ncode.InteractiveConsole().runsource('raise KeyboardInterrupt')\n"
    text = f"from tfdbg_cli.process.program_end import at_the_end\nat_the_end(print)\n{console}"
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, check=False).returncode == 0
