"""`tfdbg run` on programs that log what they print: their standard streams are objects of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

PROGRAM = """
import sys

class ToLog:
    log = open("train.log", "w", encoding="utf-8", buffering=1)

    def write(self, text):
        self.log.write(text)

    def flush(self):  # without it Python itself ends with an error
        pass

sys.stdout = sys.stderr = ToLog()

import tensorflow as tf

@tf.function
def loss(x):
    return tf.reduce_sum(tf.math.log(x))

for step in range(4):
    print(loss(tf.constant([1.0, LAST])).numpy())
"""


def _ran(folder: Path, last: str, *words: str) -> tuple[int, str, str, str]:
    """The exit code, what stands in the log of the program, and what the streams of the process got."""
    (folder / "train.py").write_text(PROGRAM.replace("LAST", last))
    done = python("-m", "tfdbg_cli", "run", *words, "train.py", folder=folder)
    return done.returncode, (folder / "train.log").read_text(encoding="utf-8"), done.stdout, done.stderr


def test_a_watch_counts_runs_and_says_its_sentence_where_the_program_logs(tmp_path: Path) -> None:
    code, log, _, said = _ran(tmp_path, "1.0", "--until", "has_inf_or_nan", "-c", "origin")
    assert code == 0
    assert log.count("0.0") == 4
    assert "tfdbg: Nothing passed has_inf_or_nan in 4 runs" in said
    assert "could not" not in said and "tfdbg" not in log


def test_a_find_is_shown_on_the_standard_output_that_tfdbg_was_started_with(tmp_path: Path) -> None:
    code, log, shown, _ = _ran(tmp_path, "0.0", "--until", "has_inf_or_nan", "-c", "origin")
    assert code == 0
    assert "Log:0" in shown
    assert log.count("-inf") == 4 and "tfdbg" not in log


def test_a_recording_ends_with_its_count(tmp_path: Path) -> None:
    code, log, _, said = _ran(tmp_path, "1.0", "--record", "rec")
    assert code == 0
    assert "tfdbg: 4 runs were recorded in " in said
    assert "could not" not in said and "tfdbg" not in log
