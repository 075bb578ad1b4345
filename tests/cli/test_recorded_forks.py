"""Workers that a program forks before it has TensorFlow leave it its recording."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

from tfdbg_cli.formats.opening import open_path

pytestmark = pytest.mark.tf

_FORKS = """
import os, sys

def train(turns):
    import tensorflow as tf
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        return w.assign_sub(0.1 * x)

    for turn in range(turns):
        step(tf.constant([1.0, turn]))

child = os.fork()
if not child:
    train(2)
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
train(5)
"""


@pytest.mark.parametrize("worker", [(), ("--worker", "a")], ids=["alone", "worker"])
def test_a_worker_that_is_forked_leaves_the_program_its_recording(tmp_path: Path, worker: tuple[str, ...]) -> None:
    """A blind test: the worker, which used TensorFlow first, took the folder, and the training was not recorded."""
    (tmp_path / "train.py").write_text(_FORKS)
    words = ("-m", "tfdbg_cli", "run", "--record", "runs", *worker, "train.py")
    made = python(*words, folder=tmp_path, anew=True)  # a fork of the tests' has TensorFlow already
    assert made.returncode == 0 and made.stdout == "3\n", made.stderr
    told = [line for line in made.stderr.splitlines() if line.startswith("tfdbg:")]
    assert len(told) == 3, told
    assert "was forked from the one whose runs are recorded in" in told[0]
    assert "Runs are recorded in" in told[1] and "5 runs were recorded in" in told[2]
    assert [run.call.number for run in open_path(tmp_path / "runs").runs] == [1, 2, 3, 4, 5]


_ENDS = """
import os, sys
import tensorflow as tf

@tf.function
def step(x):
    return x + 1.0

step(tf.constant(1.0))
child = os.fork()
if not child:
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
step(tf.constant(1.0))
"""


def test_a_child_that_ends_tells_nothing_of_the_watch_of_its_parent(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_ENDS)
    made = python("-m", "tfdbg_cli", "run", "--watch", "-c", "origin", "train.py", folder=tmp_path)
    assert made.returncode == 0 and made.stdout == "3\n", made.stderr
    assert made.stderr.count("Nothing passed bad_result in 2 runs") == made.stderr.count("Nothing passed") == 1
    assert made.stderr.count("before these commands were used") == 1
