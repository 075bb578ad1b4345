"""Programs that train behind the end of their main module: in threads that are no daemons, and in atexit handlers."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

from tfdbg_cli.formats.opening import open_path

pytestmark = pytest.mark.tf

TRAINS = """\
import atexit, sys, threading
class Last:
    def __del__(self):
        print("teardown")
last = Last()
def train():
    import tensorflow as tf
    w, b = tf.Variable(tf.ones([3, 4])), tf.Variable(tf.fill([4], -50.0))
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(x @ w + b))
        for variable, gradient in zip((w, b), tape.gradient(loss, (w, b))):
            variable.assign_sub(0.01 * gradient)
        return loss
    for number in range(4):
        print(step(tf.ones([2, 3]) * (float("nan") if number == BAD else 1.0)).numpy())
"""
THREAD = "threading.Thread(target=train).start()\n"
HANDLER = "atexit.register(train)\n"
WAYS = pytest.mark.parametrize("way", [THREAD, HANDLER], ids=["thread", "handler"])
REST = "import tensorflow as tf\nprint('main ends')\n"


def _program(folder: Path, way: str, rest: str = "", bad: int = 2) -> Path:
    path = folder / "train.py"
    path.write_text(TRAINS.replace("BAD", str(bad)) + way + REST + rest)
    return path


@WAYS
def test_runs_behind_the_main_module_are_recorded_and_the_last_words_know_them(tmp_path: Path, way: str) -> None:
    """A blind test: tfdbg took the end of the main module for that of the program."""
    program = _program(tmp_path, way)
    plain = python(program)
    words = ("--until", "has_inf_or_nan", "-c", "ri", "-c", "continue", "--record", tmp_path / "runs")
    done = python("-m", "tfdbg_cli", "run", *words, program)
    assert done.returncode == 0, done.stderr
    own = [row for row in done.stdout.splitlines() if row in plain.stdout.splitlines()]
    assert own == plain.stdout.splitlines()
    assert "4 runs were recorded in" in done.stderr
    assert "Nothing was watched" not in done.stderr and "were used" not in done.stderr
    assert len(open_path(str(tmp_path / "runs")).runs) == 4


@WAYS
def test_a_rule_that_fires_behind_the_main_module_sets_the_exit_code(tmp_path: Path, way: str) -> None:
    (tmp_path / "rules.toml").write_text("[dead_relu]\n")
    rules = ("-m", "tfdbg_cli", "run", "--rules", tmp_path / "rules.toml", "--every", "1")
    program = _program(tmp_path, way, bad=-1)
    done = python(*rules, program)
    assert (done.returncode, done.stdout) == (3, python(program).stdout), done.stderr
    assert "Rules judged 4 of 4 runs:" in done.stderr
    assert python(*rules, _program(tmp_path, way, "sys.exit(5)\n", bad=-1)).returncode == 5


def test_a_thread_that_goes_on_behind_an_exception_is_waited_for(tmp_path: Path) -> None:
    program = _program(tmp_path, THREAD, "raise ValueError('mine')\n", bad=-1)
    done = python("-m", "tfdbg_cli", "run", "--watch", "-c", "continue", "--record", tmp_path / "runs", program)
    assert done.returncode == 1
    told = done.stderr.rpartition("ValueError: mine")[2]
    assert "Nothing passed bad_result in 4 runs" in told and "4 runs were recorded in" in told


def test_errors_of_handlers_are_shown_as_ever(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text("import atexit\natexit.register(lambda: 1 / 0)\natexit.register(print, 'bye')\n")
    (tmp_path / "rules.toml").write_text("[dead_relu]\n")
    plain = python(program)
    done = python("-m", "tfdbg_cli", "run", "--rules", tmp_path / "rules.toml", program)
    assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode)
    assert plain.stderr.partition("\n")[2] in done.stderr, "but for the address of the function"


@pytest.mark.parametrize("asked", [("--watch",), ("--record", "runs"), ("--rules", "rules.toml")])
def test_a_program_whose_workers_alone_use_tensorflow(tmp_path: Path, asked: tuple[str, ...]) -> None:
    """A blind test: workers that were spawned trained to NaN, and not a word was said."""
    (tmp_path / "rules.toml").touch()
    program = tmp_path / "train.py"
    program.write_text("print('trains elsewhere')\n")
    done = python("-m", "tfdbg_cli", "run", *asked, program, folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "trains elsewhere\n")
    assert done.stderr.startswith("tfdbg: The program did not import TensorFlow in this process"), done.stderr
    assert "the workers of joblib, are not debugged" in done.stderr
    assert python("-m", "tfdbg_cli", "run", program, folder=tmp_path).stderr == ""
