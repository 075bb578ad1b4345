"""Samplers and optimizers of TensorFlow Probability, which use infinities on purpose: a watch goes on past them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tf

NUTS = """
import tensorflow as tf
import tensorflow_probability as tfp

normal = tfp.distributions.Normal(0.0, 1.0)

@tf.function
def sample():
    kernel = tfp.mcmc.NoUTurnSampler(normal.log_prob, step_size=0.5, max_tree_depth=4)
    return tfp.mcmc.sample_chain(
        4, current_state=tf.constant(0.3), kernel=kernel, num_burnin_steps=2, trace_fn=None, seed=[1, 2]
    )

for _ in range(3):
    print("sample", sample().numpy()[-1])
"""
LBFGS = """
import tensorflow as tf
import tensorflow_probability as tfp

@tf.function
def minimum(start):
    square = lambda x: tf.reduce_sum((x - tf.constant([1.0, 2.0])) ** 2 * tf.constant([1.0, 10.0]))
    value_and_gradient = lambda x: tfp.math.value_and_gradient(square, x)
    return tfp.optimizer.lbfgs_minimize(value_and_gradient, initial_position=start, tolerance=1e-6).position

for number in range(3):
    print("minimum", minimum(tf.constant([0.5 * number, 0.0])).numpy())
"""


def _run(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("tensorflow_probability")
    program = folder / "program.py"
    program.write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", *words, str(program)],
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=False,
    )


@pytest.mark.parametrize(("text", "last"), [(NUTS, "sample"), (LBFGS, "minimum")], ids=["NUTS", "lbfgs"])
def test_a_watch_goes_on_to_the_end(tmp_path, text, last) -> None:
    done = _run(tmp_path, text, "-c", "origin")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(last) == 3
    assert "Run #1: ignored" in done.stderr and "made on purpose at program.py:" in done.stderr
    assert "before these commands were used: origin" in done.stderr


@pytest.mark.parametrize("text", [NUTS, LBFGS], ids=["NUTS", "lbfgs"])
def test_the_origin_is_called_intended_in_lines_that_can_be_read(tmp_path, text) -> None:
    done = _run(tmp_path, text, "--benign", "stop", "-c", "origin", "-c", "origin --all")
    assert "Intended  It looks so: " in done.stdout
    assert "no result and no variable is touched" in done.stdout
    assert "0 tensors not finite although all inputs are." in done.stdout
    assert "A watch skips them with --benign skip" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 1000
    found = _run(tmp_path, text, "--benign", "stop", "--json", "-c", "origin")
    data = json.loads(next(line for line in found.stdout.splitlines() if line.startswith("{")))
    assert data["intended"] and data["harmless"] is True
