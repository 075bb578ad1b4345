"""`tfdbg run` on programs that read standard input: what is theirs is never taken for commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

PROGRAM = """
import sys

import tensorflow as tf

@tf.function
def loss(x):
    return tf.math.log(x)

count = 0
for row in sys.stdin:
    count += 1
    loss(tf.constant(float(row)))
print("rows", count)
"""


def test_what_a_program_put_in_its_place_is_its_own(tmp_path: Path) -> None:
    program = PROGRAM.replace("count = 0", 'import io\nsys.stdin = io.StringIO("1\\n0\\n3\\n")\ncount = 0')
    (tmp_path / "train.py").write_text(program)
    words = ["-m", "tfdbg_cli", "run", "--ui", "line", "--watch", "train.py"]
    done = python(*words, folder=tmp_path, given="py 40 + 2\ncontinue\n")
    assert done.returncode == 0, done.stderr
    assert "rows 3" in done.stdout and "\n42\n" in done.stdout


LATER = """
import tensorflow as tf

@tf.function
def loss(x):
    return tf.math.log(x)

loss(tf.constant(0.0))
READ
"""


def test_data_that_the_program_reads_later_are_no_commands(tmp_path: Path) -> None:
    """A blind test: a program that reads its input behind the hit was ended by a `q` among its data."""
    (tmp_path / "train.py").write_text(LATER.replace("READ", "print([input(), input(), input()])"))
    words = ["-m", "tfdbg_cli", "run", "--ui", "line", "--watch", "train.py"]
    done = python(*words, folder=tmp_path, given="lt\nq\nc\n")
    assert done.returncode == 0, done.stderr
    assert "['lt', 'q', 'c']" in done.stdout and "Log of 0" in done.stdout
    assert "The program (train.py:9) reads standard input itself" in done.stdout + done.stderr


def test_where_no_text_tells_the_program_has_its_input_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LATER.replace("READ", "import sys\nprint(getattr(sys, 'std' + 'in').read())"))
    words = ["-m", "tfdbg_cli", "run", "--ui", "line", "--watch", "train.py"]
    done = python(*words, folder=tmp_path, given="py 40 + 2\ncontinue\ndata\n")
    assert done.returncode == 0, done.stderr
    assert "\n42\n" in done.stdout and "\npy 40 + 2\ncontinue\ndata\n" in done.stdout


@pytest.mark.parametrize("options", [["--watch"], ["--until", "has_inf_or_nan"], []])
def test_data_on_standard_input_are_no_commands(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    words = ["-m", "tfdbg_cli", "run", "--ui", "line", *options, "train.py"]
    done = python(*words, folder=tmp_path, given="1\n2\n0\n4\n5\n")
    assert done.returncode == 0, done.stderr
    assert "rows 5" in done.stdout
    assert "There is no command" not in done.stdout
    assert "The program reads standard input itself" in done.stdout + done.stderr
    assert ("Log of 0" in done.stdout) == bool(options)
