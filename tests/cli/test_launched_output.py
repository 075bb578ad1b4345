"""What we show goes where standard output led at launch, in processes of their own."""

from __future__ import annotations

import subprocess
import sys

from tfdbg_cli.cli.launched_output import launched_output

BEGIN = """
import os, sys
from tfdbg_cli.cli.launched_output import launched_output
output = launched_output()
def show(text):
    output.write(text)
    output.flush()
"""


def _printed(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True, check=True)
    return done.stdout


def test_what_the_program_prints_comes_before_what_is_shown_behind_it() -> None:
    assert _printed("print('one'); show('two\\n'); print('three')") == "one\ntwo\nthree\n"


def test_it_is_seen_where_the_program_sends_its_own_output_elsewhere() -> None:
    elsewhere = "os.dup2(os.open(os.devnull, os.O_WRONLY), 1); print('taken', flush=True); show('seen\\n')"
    assert _printed(elsewhere) == "seen\n"
    assert _printed("os.close(1); show('seen ä\\n'); os.open(os.devnull, os.O_WRONLY)") == "seen ä\n"


def test_a_child_that_goes_on_in_the_background_keeps_no_pipe_open() -> None:
    program = """
if os.fork() == 0:
    for number in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    show("lost")
    __import__("time").sleep(30)
    os._exit(0)
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout == "done\n"


def test_elsewhere_it_is_the_stream_itself() -> None:
    assert launched_output() is sys.stdout
