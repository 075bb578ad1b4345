"""A call that fails under a watch while nobody is there: what the program catches uses nothing up."""

from __future__ import annotations

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

_STEP = """
import sys
import tensorflow as tf

@tf.function
def step(i, x):
    return tf.gather(tf.constant([1.0, 2.0]), i) * tf.math.log(x)

def safe(i, x):
    try:
        return float(step(tf.constant(i), tf.constant(x)))
    except tf.errors.InvalidArgumentError:
        return None

print(safe(0, 1.0), safe(7, 1.0))
"""
_SESSION = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
x, i = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.int32, [], name="i")
y = tf.gather(tf.constant([1.0, 2.0]), i) * tf.log(x)
s = tf.Session()
try:
    s.run(y, {x: 1.0, i: 7})
except tf.errors.InvalidArgumentError:
    print("skipped")
"""
_NAN_LATER = _STEP + "print([safe(1, 2.0 - k) for k in range(4)])\n"
_MANY = _STEP + "print([safe(1, 2.0) for k in range(20)], safe(7, 1.0))\nprint(safe(0, 0.0))\n"
_DIES = _STEP + "print([safe(1, 2.0) for k in range(3)])\nstep(tf.constant(9), tf.constant(1.0))\n"
_CLOSES = _STEP + "try:\n    step(tf.constant(9), tf.constant(1.0))\nfinally:\n    print(safe(0, 1.0))\n"
_THREAD = """
import threading

def train():
    for i in (0, 1, 9):
        step(tf.constant(i), tf.constant(1.0))

trainer = threading.Thread(target=train, name="trainer")
trainer.start()
trainer.join()
print("goes on")
"""
_EXITS = _STEP + "sys.exit('gives up')\n"
_OTHER = _STEP + "raise ValueError('of its own')\n"


def _run(folder, program: str, *words: str):
    (folder / "train.py").write_text(program)
    return python("-m", "tfdbg_cli", "run", *words, "train.py", folder=folder)


@pytest.mark.parametrize("words", [("--watch",), ("--until", "has_inf_or_nan"), ("--watch", "-c", "origin")])
def test_the_watch_goes_on_behind_an_error_that_the_program_catches(tmp_path, words) -> None:
    """A blind test: a loop that skips a bad batch lost its watch there, and the NaN of later was missed."""
    done = _run(tmp_path, _NAN_LATER, *words)
    assert done.returncode == 0
    assert "Log of 0: x:0 is 0" in done.stdout, done.stdout
    assert "InvalidArgumentError" not in done.stdout
    assert done.stdout.startswith("0.0 None\n")


@pytest.mark.parametrize("last", ["s.run(y, {x: 0.0, i: 0})", "s.run(y, {x: 1.0, i: 9})"])
def test_runs_of_a_session_that_the_program_catches(tmp_path, last) -> None:
    done = _run(tmp_path, f"{_SESSION}{last}\n", "--watch", "-c", "error_info", "-c", "pt i")
    assert done.stdout.startswith("skipped\n")
    if "0.0" in last:
        assert "run #2: 1 fetch (mul:0); 2 feeds passed bad_result" in done.stdout
    else:
        assert "indices = 9 is not in [0, 2)" in done.stdout.partition("tfdbg> error_info")[2]
        assert "\n9\n" in done.stdout.partition("tfdbg> pt i")[2]


def test_a_bundle_is_of_what_the_watch_is_for(tmp_path) -> None:
    done = _run(tmp_path, _NAN_LATER, "--watch", "--bundle", "case")
    assert done.returncode == 0
    opened = python("-m", "tfdbg_cli", "open", "case", "-c", "origin", folder=tmp_path)
    assert "Log of 0" in opened.stdout


def test_what_was_caught_is_told_once(tmp_path) -> None:
    done = _run(tmp_path, _MANY, "--watch")
    said = "Run #2 failed with InvalidArgumentError, which the program caught: the watch goes on."
    assert done.stderr.count("which the program caught") == done.stderr.count(said) == 1
    assert "Log of 0" in done.stdout


@pytest.mark.parametrize("program", [_DIES, _CLOSES])
def test_the_error_that_ends_the_program_is_shown_with_its_values(tmp_path, program) -> None:
    done = _run(tmp_path, program, "--watch", "-c", "error_info", "-c", "pt i", "-c", "where")
    assert done.returncode == 1
    assert "This exception ends the program." in done.stdout
    assert "train.py:" in done.stdout
    assert "indices = 9 is not in [0, 2)" in done.stdout
    assert "9" in done.stdout.partition("tfdbg> pt i")[2].partition("tfdbg> where")[0]
    assert "<module>" in done.stdout.partition("tfdbg> where")[2]
    assert done.stderr.rstrip().endswith("[Op:__inference_step_11]") or "InvalidArgumentError" in done.stderr


@pytest.mark.parametrize("code", ["", "sys.exit(7)\n"])
def test_the_error_that_ends_a_thread_is_shown_and_not_called_caught(tmp_path, code: str) -> None:
    """A blind test: that it ended the training, in a thread, was told as "the program caught it"."""
    program = _STEP.partition("print(")[0] + _THREAD + code
    done = _run(tmp_path, program, "--watch", "-c", "error_info", "-c", "where")
    assert done.returncode == (7 if code else 0)
    page, _, after = done.stdout.partition("tfdbg> where")
    assert "This exception ends the thread trainer." in page and "indices = 9 is not in [0, 2)" in page
    assert "train" in after and after.rstrip().endswith("goes on")
    assert "Exception in thread trainer" in done.stderr and "caught" not in done.stdout + done.stderr


def test_so_is_one_of_an_op_that_a_thread_runs_eagerly_and_none_that_no_op_raised(tmp_path) -> None:
    eager = "import tensorflow as tf\n" + _THREAD.replace("step(tf.constant(i), tf.constant(1.0))", "{}")
    done = _run(tmp_path, eager.format("tf.gather(tf.constant([1.0, 2.0]), i)"), "--watch", "-c", "error_info")
    assert done.returncode == 0
    assert "This exception ends the thread trainer." in done.stdout and "indices = 9 is not in [0, 2)" in done.stdout
    traced = _run(tmp_path, eager.format("tf.function(lambda: tf.add(1, 'a'))()"), "--watch", "-c", "error_info")
    assert "This exception ends the thread trainer." in traced.stdout and "TypeError" in traced.stdout
    plain = _run(tmp_path, _STEP + eager.format("[][i]"), "--watch", "-c", "error_info")
    assert plain.returncode == 0 and "IndexError" in plain.stderr and "tfdbg>" not in plain.stdout


def test_an_error_that_was_caught_last_is_shown_at_the_end(tmp_path) -> None:
    done = _run(tmp_path, _EXITS, "--watch", "-c", "error_info")
    assert done.returncode == 1
    page = done.stdout.partition("tfdbg> error_info")[2]
    assert "indices = 7 is not in [0, 2)" in page
    assert "The program has caught this error." in page
    assert "gives up" in done.stderr


def test_a_program_that_ends_well_is_told_of_and_nothing_is_spent_on_it(tmp_path) -> None:
    """A blind test: its bundle and commands went to the error that it had caught."""
    done = _run(tmp_path, _STEP + "print('done')\n", "--watch", "--bundle", "case", "-c", "error_info")
    assert done.returncode == 0
    assert done.stdout == "0.0 None\ndone\n"
    assert "Run #2 failed with InvalidArgumentError, which the program caught." in done.stderr
    assert "Nothing passed bad_result in" in done.stderr
    assert not (tmp_path / "case").exists()


def test_rules_alone_leave_the_output_to_the_program(tmp_path) -> None:
    (tmp_path / "rules.toml").write_text("")
    done = _run(tmp_path, _STEP + "print('done')\n", "--rules", "rules.toml", "--every", "1")
    assert done.stdout == "0.0 None\ndone\n"


def test_another_error_that_ends_the_program_comes_first(tmp_path) -> None:
    done = _run(tmp_path, _OTHER, "--watch", "-c", "error_info")
    assert done.returncode == 1
    assert "of its own" in done.stdout.partition("tfdbg> error_info")[2]
