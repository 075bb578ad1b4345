"""What we show and say goes where the standard streams led at launch, in processes of their own."""

from __future__ import annotations

import subprocess
import sys

from tfdbg_cli.cli.launched_streams import launched_error, launched_output

BEGIN = """
import os, sys
from tfdbg_cli.cli.launched_streams import launched_output
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


SAYING = """
import io, os, sys
from contextlib import redirect_stderr
from tfdbg_cli.cli.launched_streams import launched_error
from tfdbg_cli.process.streams import say_on, to_stderr
say_on(launched_error())
"""


def _said(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", SAYING + program], capture_output=True, text=True, check=True)
    return done.stderr


def test_what_we_say_goes_where_standard_error_led_at_launch() -> None:
    """A blind test: a buffer of the program's, by redirect_stderr, received a line of ours."""
    buffered = """
with redirect_stderr(io.StringIO()) as taken:
    print("the program's", file=sys.stderr)
    to_stderr("ours")
assert taken.getvalue() == "the program's\\n"
"""
    assert _said(buffered) == "tfdbg: ours\n"


def test_a_file_of_the_program_at_descriptor_2_gets_nothing_of_ours() -> None:
    """A blind test: a file that the program opened after it had closed standard error received a line of ours."""
    reopened = """
import tempfile
os.close(2)
file = tempfile.TemporaryFile(buffering=0)
assert file.fileno() == 2
to_stderr("ours")
file.seek(0)
assert file.read() == b""
"""
    assert _said(reopened) == "tfdbg: ours\n"


def test_elsewhere_it_is_the_stream_itself() -> None:
    assert launched_output() is sys.stdout and launched_error() is None
