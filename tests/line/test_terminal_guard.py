"""The shell that gives a terminal back is handed what it needs, whatever the program has closed."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

_BEGUN = """
    import os
    from tfdbg_cli.line import terminal_guard

    for number in range(4):
        try:
            os.close(number)
        except OSError:
            pass
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(4)]
    pipes = [os.pipe()[0] for _ in range(3)]
    wanted = [os.fstat(one).st_ino for one in (pipes[0], pipes[1], pipes[1], pipes[2])]
    for number in {closed}:
        os.close(number)

    def execv(*_):
        given = [os.fstat(number).st_ino for number in range(4)]
        inherited = all(os.get_inheritable(number) for number in range(4))
        os._exit(7 if given == wanted and inherited else 1)

    os.execv = execv
    terminal_guard._wait(pipes[1], pipes[0], pipes[2])
"""


@pytest.mark.parametrize("closed", [[], [3], [0], [1, 2], [2, 3], [0, 1, 2, 3]], ids=str)
def test_the_shell_inherits_its_four_files(closed: list[int]) -> None:
    """A blind test: with number 3 free, `run --live` and Ctrl-Z printed `3: Bad file descriptor`."""
    program = textwrap.dedent(_BEGUN.format(closed=closed))
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 7
