"""`tfdbg run` on programs with `tf.debugging.enable_check_numerics()`, as who looks for a NaN has tried before."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

PROGRAM = """
import tensorflow as tf

tf.debugging.enable_check_numerics()
w = tf.Variable(2.0)

DECORATED
def loss(x):
    return tf.math.log(w - x) * 2.0  # here

for step in range(6):
    loss(tf.constant(float(step)))
"""
_WAYS = {"eager": "#", "function": "@tf.function"}


@pytest.mark.parametrize("until", [(), ("--until", "has_inf_or_nan")])
@pytest.mark.parametrize("way", ["eager", "function"])
def test_the_op_is_found_whose_result_the_check_refused(tmp_path: Path, way: str, until: tuple[str, ...]) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.replace("DECORATED", _WAYS[way]))
    commands = ["-c", "origin"] if until else ["-c", "run", "-c", "run", "-c", "run", "-c", "origin"]
    done = python("-m", "tfdbg_cli", "run", *until, *commands, "train.py", folder=tmp_path)
    assert done.returncode == 1
    assert "Log of 0: " in done.stdout
    assert "train.py:9 in loss" in done.stdout
    assert "InvalidArgumentError" in done.stderr and "Detected Infinity or NaN" in done.stderr


def test_what_a_check_behind_a_watched_call_raises_is_the_programs(tmp_path: Path) -> None:
    """It was taken for a failure of our own checks, and swallowed: the program went on with NaN."""
    (tmp_path / "train.py").write_text(
        """
import tensorflow as tf

@tf.function
def loss(x):
    return tf.math.log(x)

loss(tf.constant(1.0))  # traced before the checks are on: only what the call gives is checked
tf.debugging.enable_check_numerics()
loss(tf.constant(0.0))
"""
    )
    done = python("-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", "-c", "origin", "train.py", folder=tmp_path)
    assert done.returncode == 1
    assert "Detected Infinity or NaN" in done.stderr and "which it does not without" not in done.stderr


def test_debugger_v2_sees_the_calls_of_functions_that_are_watched(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        """
import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info("set", tensor_debug_mode="CONCISE_HEALTH", circular_buffer_size=-1)

@tf.function
def double(x):
    return x * 2.0

for _ in range(3):
    double(tf.constant(1.0))
tf.debugging.experimental.disable_dump_debug_info()
"""
    )
    done = python("-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", "-c", "origin", "train.py", folder=tmp_path)
    assert done.returncode == 0
    shown = python("-m", "tfdbg_cli", "open", "set", "-c", "timeline", folder=tmp_path)
    assert shown.stdout.count("double") >= 3
