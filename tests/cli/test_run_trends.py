"""`tfdbg run --trends`: the norms of the whole training are there when a watch stops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

GROWS = """\
import tensorflow as tf
w = tf.Variable(tf.ones([3, 1]), name="w")
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 4)
    w.assign_sub(tape.gradient(loss, w))
    return loss
for number in range(9):
    step(tf.ones([2, 3]))
"""


@pytest.mark.parametrize("every", [1, 2])
def test_norms_from_the_first_run_to_the_hit(tmp_path: Path, every: int) -> None:
    program = tmp_path / "train.py"
    program.write_text(GROWS)
    words = ("run", "--json", "--trends", "--every", every, "--until", "has_inf_or_nan", "-c", "trends", "-c", "ri")
    done = python("-m", "tfdbg_cli", *words, program)
    assert done.returncode == 0, done.stderr
    trends, info = map(json.loads, done.stdout.splitlines())
    steps = {tuple(one["steps"]) for one in trends["series"]}
    (numbers,) = steps
    hit = info["number"]
    assert numbers == tuple(sorted({*range(1, hit, every), hit}))
    gradient = next(one["values"] for one in trends["series"] if one["quantity"] == "gradient")
    assert [float(value) for value in gradient] == sorted(map(float, gradient)), "it grew from run to run"


def test_alone_and_with_nobody_there_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(GROWS)
    done = python("-m", "tfdbg_cli", "run", "--trends", "--every", "2", "train.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "undebugged" not in done.stderr and "commands" not in done.stderr


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(GROWS)
    done = python("-m", "tfdbg_cli", "run", "--trends", "--every", "0", "train.py", folder=tmp_path)
    assert done.returncode == 1 and "Of one run in 0 no norms can be kept." in done.stderr
