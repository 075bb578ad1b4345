"""`traces` at a prompt of a program, from a shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.launched import launched, python

pytestmark = pytest.mark.tf

PROGRAM = """\
import tensorflow as tf


@tf.function
def step(x, i):
    return tf.reduce_sum(x) * tf.cast(i, tf.float32)


@tf.function
def once(x):
    return x + 1.0


for i in range(10):
    once(step(tf.ones([8, 3]), i))
step(tf.ones([7, 3]), 9)
print("trained")
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def _answers(text: str) -> dict[str, Any]:
    """The answers in JSON among what the program prints, by kind."""
    return {one["kind"]: one for one in map(json.loads, (row for row in text.splitlines() if row.startswith("{")))}


def test_the_argument_that_differs_is_named(script: Path) -> None:
    done = launched(script, "--json", "-c", "run -t 21", "-c", "traces")
    assert done.returncode == 0, done.stderr
    found = _answers(done.stdout)["traces"]
    assert (found["traces"], found["retraces"]) == (12, 10)
    step, once = found["functions"]
    assert step["name"] == "step"
    assert [one["count"] for one in step["traces"]] == [1] * 11
    assert step["traces"][0]["signature"] == "x: float32[8, 3], i: 0"
    assert step["traces"][0]["cause"] is None
    assert [one["cause"] for one in step["traces"][1:10]] == [
        {"argument": "i", "old": str(at), "new": str(at + 1)} for at in range(9)
    ]
    assert step["traces"][10]["cause"] == {"argument": "x", "old": "float32[8, 3]", "new": "float32[7, 3]"}
    assert {one["file"] for one in step["traces"]} == {str(script)}
    assert [one["line"] for one in step["traces"]] == [15] * 10 + [16]
    assert all(one["seconds"] > 0 for one in step["traces"])
    assert [(one["count"], one["cause"]) for one in once["traces"]] == [(10, None)]


def test_before_a_run_the_trace_that_it_made_is_there(script: Path) -> None:
    done = launched(script, "--json", "-c", "traces", "-c", "continue")
    assert done.returncode == 0, done.stderr
    (step,) = _answers(done.stdout)["traces"]["functions"]
    assert [one["signature"] for one in step["traces"]] == ["x: float32[8, 3], i: 0"]
    assert "trained" in done.stdout


def test_in_a_recording_it_says_that_there_are_none(script: Path, tmp_path: Path) -> None:
    done = launched(script, "--record", str(tmp_path / "case"), "--every", "20")
    assert done.returncode == 0, done.stderr
    opened = python("-m", "tfdbg_cli", "open", tmp_path / "case", "-c", "traces")
    assert "A recording does not keep how often functions were traced." in opened.stdout + opened.stderr


OFTEN = "step was traced 11 times, for i = 0, 1, …: `traces` at a prompt tells why."


def test_the_end_of_a_watch_tells_of_a_function_that_was_retraced_often(script: Path) -> None:
    done = launched(script, "--until", "has_inf_or_nan")
    assert done.returncode == 0, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tfdbg: Nothing passed has_inf_or_nan in 21 runs")
    assert last.endswith(f". {OFTEN}")


def test_it_is_told_behind_a_stop(script: Path) -> None:
    done = launched(script, "-c", "continue")
    assert done.stderr.splitlines()[-1] == f"tfdbg: {OFTEN}"


def test_a_program_that_nobody_looked_at_ends_silently(script: Path, tmp_path: Path) -> None:
    done = launched(script, "--record", str(tmp_path / "case"), "--every", "20")
    assert "traced" not in done.stderr
