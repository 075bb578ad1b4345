"""A fork of a process that has imported much stands for a new process: what tests start is compared in both."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pexpect
import pytest
from support.launched import begun, python
from support.warm_python import WarmSpawn
from test_launch import PROGRAMS

pytestmark = pytest.mark.tf

LOADS = """
import os, sys

def loaded():
    heavy = {"numpy", "ml_dtypes", "tensorflow", "keras", "h5py", "google.protobuf"}
    return sorted(name for name in sys.modules if name in heavy or name.partition(".")[0] == "tfdbg_cli")

print(loaded(), os.getcwd(), os.environ["TFDBG_UI"], sys.stdin.read(), sys.stdout.isatty())
import numpy
print(loaded())
import keras, tensorflow
print(loaded(), tensorflow.__loader__.__class__, keras.__spec__.name, tensorflow.reduce_sum(numpy.ones(3)).numpy())
import tfdbg_cli
print(tfdbg_cli.DebugDumpDir.__module__, loaded())
import neighbour
"""


def _both(folder: Path, *words: str) -> list[tuple[int, str, str]]:
    (folder / "neighbour.py").write_text("1 / 0")
    environ = {
        **os.environ,
        "TFDBG_UI": "none",
        "HOME": str(folder),
    }  # alike for TensorFlow: one server for all tests
    results = []
    for anew in (True, False):
        done = python(*words, folder=folder, given="Ada\nLovelace\n", environ=environ, anew=anew)
        lines = [line for line in done.stderr.splitlines() if not re.match(r"WARNING: All log|[IWE]\d{4} ", line)]
        results.append((done.returncode, _stable(done.stdout), _stable("\n".join(lines))))
    return results


def _stable(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+|Thread-\d+|thread \d+", "…", text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_in_a_new_process(tmp_path: Path, name: str) -> None:
    source, arguments = PROGRAMS[name]
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(source).lstrip(), encoding="latin-1" if "latin-1" in source else "utf-8")
    anew, warm = _both(tmp_path, "program.py", *arguments)
    assert warm == anew


# Both import TensorFlow and Keras anew, which takes seconds; with tfdbg around it a program is run by name, too.
@pytest.mark.parametrize(
    "words", [pytest.param(("-m", "program", "x"), marks=pytest.mark.slow), ("-m", "tfdbg_cli", "run", "program.py")]
)
def test_modules_are_loaded_when_the_program_imports_them(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "program.py").write_text(LOADS)
    anew, warm = _both(tmp_path, *words)
    assert "ZeroDivisionError" in anew[2]
    assert warm == anew


def test_a_module_of_the_programs_own_comes_before_the_one_that_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("print('mine')")
    anew, warm = _both(tmp_path, "-c", "import tensorflow, sys; print(tensorflow.__file__, sys.argv)", "x")
    assert "mine" in anew[1]
    assert warm == anew


def test_programs_go_on_side_by_side_and_end_by_themselves_or_by_a_signal() -> None:
    first, second = (begun("-c", "print('begun', flush=True)\nprint(input())") for _ in range(2))
    assert [program.stdout.readline() for program in (first, second)] == ["begun\n"] * 2
    assert first.poll() is None and second.poll() is None
    second.stdin.write("Ada\n")
    assert second.communicate(60)[0] == "Ada\n" and second.returncode == 0
    os.kill(first.pid, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL


IN_A_TERMINAL = """
import os, signal, sys
print(os.getsid(0) == os.getpid(), os.tcgetpgrp(0) == os.getpgrp(), os.ttyname(0) == os.ttyname(2))
print(sys.stdout.isatty(), sys.stdout.line_buffering, sys.stdout.encoding, sys.stderr.errors)
print(signal.getsignal(signal.SIGINT), "urwid" in sys.modules, "numpy" in sys.modules)
try:
    print("Hello,", input("name: "))
    signal.pause()
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.parametrize("spawn", [pexpect.spawn, WarmSpawn])
def test_a_program_in_a_terminal_finds_it_as_a_new_process_does(spawn: type[pexpect.spawn]) -> None:
    child = spawn(sys.executable, ["-c", IN_A_TERMINAL], encoding="utf-8", timeout=60)
    child.sendline("Ada")
    child.expect_exact("name: ")
    said = child.before.replace("Ada", "").split()
    assert said[:4] == ["True"] * 4
    assert said[4:7] == [str("PYTHONUNBUFFERED" not in os.environ), "utf-8", "backslashreplace"]
    assert " ".join(said[7:]) == "<built-in function default_int_handler> False False"
    child.expect_exact("Hello, Ada")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 7


def test_what_does_not_end_is_killed(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        python("-c", "import time\nprint('begun', flush=True)\ntime.sleep(100)", timeout=1)
    assert python("-c", "print('the next')").stdout == "the next\n"
