"""Runs of which some are captured: seeded random ops that count inside their kernels give what they would anyway."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

DRAWS = """\
import tensorflow as tf
tf.random.set_seed(1)
w = tf.Variable(tf.ones([2]))
@tf.function
def step(rate):
    w.assign_add(rate * tf.random.normal([2]))
    return tf.random.uniform([], seed=3)
@tf.function
def noisy(x):
    return x * w * tf.random.normal([2])
for number in range(7):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(noisy(tf.ones([2])))
    slope = tape.gradient(loss, w)
    print(float(step(0.5)).hex(), [value.hex() for value in (*w.numpy().tolist(), *slope.numpy().tolist())])
"""
BRANCHES = """\
import tensorflow as tf
tf.random.set_seed(1)
w = tf.Variable(tf.ones([2]))
@tf.function
def step(training):
    with tf.GradientTape() as tape:
        hidden = tf.cond(training, lambda: tf.nn.dropout(w * 3.0, 0.5), lambda: w * 3.0)
        loss = tf.reduce_sum(hidden**2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    for _ in tf.range(2):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)  # else turns draw in any order
        loss += tf.random.normal([], seed=3)
    return loss
for number in range(7):
    print(float(step(tf.constant(True))).hex(), [value.hex() for value in w.numpy().tolist()])
"""


@pytest.mark.parametrize(
    "words",
    [["--trends"], ["--rules", "rules.toml"], ["--record", "runs"], ["--record", "runs", "--stats-only"]],
    ids=lambda words: words[-1].lstrip("-"),
)
@pytest.mark.parametrize("program", [DRAWS, BRANCHES], ids=["straight", "in branches and loops"])
def test_random_ops_that_count_inside_their_kernels_draw_as_ever(
    tmp_path: Path, program: str, words: list[str]
) -> None:
    """A blind test: recording one run in 3 of a step with dropout in a tf.cond changed what it trained."""
    (tmp_path / "train.py").write_text(program)
    (tmp_path / "rules.toml").write_text("[has_nan]")
    plain = python("train.py", folder=tmp_path)
    done = python("-m", "tfdbg_cli", "run", *words, "--every", "3", "train.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == plain.stdout and len(plain.stdout.splitlines()) == 7
