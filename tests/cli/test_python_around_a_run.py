"""`frames`, `locals` and `py` where a function or a session stops: the calls of the program that made the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

FUNCTION = """
import numpy as np
import tensorflow as tf

@tf.function
def loss(x):
    return tf.math.log(x)

def train(rows):
    for step, row in enumerate(rows):
        loss(tf.constant(row))  # here

train([3.0, 2.0, 0.0])
print("end")
"""
SESSION = """
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, ())
loss = tf.log(x)

def train(rows):
    with tf.Session() as session:
        for step, row in enumerate(rows):
            session.run(loss, {x: row})  # here

train([3.0, 2.0, 0.0])
print("end")
"""


def test_a_proxy_of_nothing_among_the_names_hides_no_other(tmp_path: Path) -> None:
    program = FUNCTION.replace(
        "def train",
        """class Proxy:
    def __getattr__(self, name):
        raise RuntimeError("outside of a context")

def train""",
    ).replace("    for step", "    request, limit = Proxy(), 7\n    for step")
    (tmp_path / "train.py").write_text(program)
    done = python("-m", "tfdbg_cli", "run", "-c", "locals", "train.py", folder=tmp_path)
    assert "bug of tfdbg" not in done.stdout
    assert "limit" in done.stdout and "Proxy" in done.stdout


@pytest.mark.parametrize("program", [FUNCTION, SESSION], ids=["function", "session"])
def test_the_calls_that_made_a_run_can_be_asked(tmp_path: Path, program: str) -> None:
    (tmp_path / "train.py").write_text(program)
    asked = ["py rows[0]", "run -f has_inf_or_nan", "frames", "py (step, row)", "locals", "up", "py __name__"]
    words = [word for command in asked for word in ("-c", command)]
    done = python("-m", "tfdbg_cli", "run", *words, "train.py", folder=tmp_path)
    line = next(number for number, text in enumerate(program.splitlines(), 1) if "# here" in text)
    answers = {part.partition("\n")[0]: part for part in done.stdout.split("tfdbg> ")}
    assert answers["py rows[0]"].splitlines()[1] == "3.0"
    assert f"train.py:{line} in train" in answers["frames"]
    assert answers["py (step, row)"].splitlines()[1] == "(2, 0.0)"
    assert "rows" in answers["locals"] and "[3.0, 2.0, 0.0]" in answers["locals"]
    assert "in <module>" in answers["up"] and "'__main__'" in answers["py __name__"]
    assert done.stdout.endswith("end\n")
