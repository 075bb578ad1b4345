"""`tfdbg run --rules FILE`: the program goes on, and its exit code says whether a rule fired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

DEAD = """\
import sys
import tensorflow as tf
w, b = tf.Variable(tf.ones([3, 4])), tf.Variable(tf.fill([4], BIAS))
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.relu(x @ w + b))  # the relu
    for variable, gradient in zip((w, b), tape.gradient(loss, (w, b))):
        variable.assign_sub(0.01 * gradient)
    return loss
for number in range(6):
    print(step(tf.ones([2, 3])).numpy())
sys.exit(CODE)
"""
LOOP = """\
import tensorflow as tf
w = tf.Variable([1.0, 2.0])
for number in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * 1e5)
    w.assign_sub(1e-9 * tape.gradient(loss, w))
"""


def _program(folder: Path, text: str, rules: str = "", bias: float = -50.0, code: int = 0) -> Path:
    (folder / "rules.toml").write_text(rules)
    path = folder / "train.py"
    path.write_text(text.replace("BIAS", str(bias)).replace("CODE", str(code)))
    return path


def test_a_rule_that_fires_is_told_and_the_program_goes_on(tmp_path: Path) -> None:
    program = _program(tmp_path, DEAD)
    plain = python(program)
    done = python("-m", "tfdbg_cli", "run", "--rules", tmp_path / "rules.toml", "--every", "2", program)
    assert done.returncode == 3, done.stderr
    assert done.stdout == plain.stdout
    assert "Rule dead_relu: Relu:0 in run #1 (train.py:7)" in done.stderr
    assert "Rules judged 3 of 6 runs:" in done.stderr


def test_without_a_finding_or_with_a_code_of_its_own_the_program_ends_as_ever(tmp_path: Path) -> None:
    rules = ("run", "--rules", tmp_path / "rules.toml", "--every", "2")
    done = python("-m", "tfdbg_cli", *rules, _program(tmp_path, DEAD, bias=1.0))
    assert done.returncode == 0, done.stderr
    assert "Rules: none fired in 3 of 6 runs." in done.stderr
    done = python("-m", "tfdbg_cli", *rules, _program(tmp_path, DEAD, code=5))
    assert done.returncode == 5, done.stderr


def test_commands_are_fed_where_a_rule_fires_first(tmp_path: Path) -> None:
    program = _program(tmp_path, DEAD, "[dead_relu]\nnumber = 1\n[has_nan]\n")
    commands = ("-c", "alerts", "-c", "pt Relu", "-c", "continue")
    done = python("-m", "tfdbg_cli", "run", "--json", "--rules", tmp_path / "rules.toml", *commands, program)
    assert done.returncode == 0, "somebody was at the prompt"
    alerts, value, _ = (json.loads(row) for row in done.stdout.splitlines() if row.startswith("{"))
    assert [(one["rule"], one["run"], one["line"]) for one in alerts["alerts"]] == [("dead_relu", 1, 7)]
    assert value["summary"]["zero"] == 8
    assert len([row for row in done.stdout.splitlines() if row[:1].isdigit()]) == 6, "all steps were made"


def test_turns_of_an_eager_loop_are_judged(tmp_path: Path) -> None:
    program = _program(tmp_path, LOOP, "[exploding_gradient]\n")
    done = python("-m", "tfdbg_cli", "run", "--rules", tmp_path / "rules.toml", "--every", "2", program)
    assert done.returncode == 3, done.stderr
    assert "Rule exploding_gradient: gradient_tape/" in done.stderr


def test_beside_a_recording_of_the_same_runs(tmp_path: Path) -> None:
    program = _program(tmp_path, DEAD)
    record = ("--record", tmp_path / "runs", "--every", "3")
    done = python("-m", "tfdbg_cli", "run", "--rules", tmp_path / "rules.toml", *record, program)
    assert done.returncode == 3, done.stderr
    assert "2 runs were recorded" in done.stderr
    assert "Rules judged 2 of 6 runs:" in done.stderr


def test_where_nobody_is_there_an_error_of_the_program_is_shown_by_python_alone(tmp_path: Path) -> None:
    program = _program(tmp_path, DEAD.replace("sys.exit(CODE)", "print('now', end=' ')\nraise ValueError('mine')"))
    plain = python(program)
    done = python("-m", "tfdbg_cli", "run", "--rules", "rules.toml", "--every", "2", program, folder=tmp_path)
    assert (done.stdout, done.returncode) == (plain.stdout, 1)
    assert done.stderr.rstrip().endswith("ValueError: mine")


def test_a_rule_that_is_misspelled_fails_a_job(tmp_path: Path) -> None:
    program = _program(tmp_path, DEAD, "[dead_rleu]\n")
    done = python("-m", "tfdbg_cli", "run", "--rules", tmp_path / "rules.toml", program)
    assert done.returncode == 3
    assert "The rule dead_rleu is not asked: There is no filter 'dead_rleu'. Did you mean dead_relu" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rules", "none.toml"], "There is no file of rules none.toml."),
        (["--rules", "rules.toml", "--record", "r", "--stats-only"], "--rules asks for values"),
        (["--every", "3"], "A recording is described, and no path named."),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: list[str], message: str) -> None:
    program = _program(tmp_path, DEAD)
    done = python("-m", "tfdbg_cli", "run", *words, program, folder=tmp_path)
    assert done.returncode == 1 and message in done.stderr
    assert not done.stdout
