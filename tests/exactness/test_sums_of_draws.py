"""Sums of four terms or more, some of which the function draws: which one they begin with is as without tfdbg.

`AddN` adds into the memory of a term that nobody else holds. What a function draws is given back to tfdbg, which so
held it, and the sum had another order.
"""

from __future__ import annotations

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

PROGRAM = """
import numpy as np, tensorflow as tf
np.random.seed(7); tf.random.set_seed(3)
data = lambda *more: np.random.randn(400, *more, 5).astype("float32")
pairs = iter(tf.data.Dataset.from_tensor_slices((data(), data())))
ones = iter(tf.data.Dataset.from_tensor_slices(data()))
batches = iter(tf.data.Dataset.from_tensor_slices((data(), data())).batch(8, drop_remainder=True))
v, w = tf.Variable(tf.random.normal([5])), tf.Variable(tf.random.normal([5]))
p, b = tf.Variable(tf.random.normal([8, 5])), tf.Variable(tf.random.normal([5, 5]))
gen = tf.random.Generator.from_seed(3)

def two(x):
    a, c = next(pairs)
    return x + a + c + tf.tanh(x)

def last(x):
    a, c = next(pairs)
    return tf.tanh(x) + tf.sin(x) + a + c + w

def train(x):
    a, c = next(batches)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softplus((a + c + p + gen.normal([8, 5])) @ b))
    for one, by in zip([p, b], tape.gradient(loss, [p, b])):
        one.assign_sub(0.1 * by)
    return loss

STEPS = [
    two, last, train,
    lambda x: x + next(ones) + gen.normal([5]) + v,
    lambda x: v + x * w + tf.square(x) + next(ones) + x,
    lambda x: x + next(ones) + tf.math.subtract(*next(pairs)) + v + x * w,
]
if DRAWS_AT_RANDOM:
    STEPS = [lambda x: tf.random.normal([5]) + tf.random.uniform([5], seed=12) + x + tf.tanh(x) + v]
STEPS = [tf.function(one) for one in STEPS]
for number in range(6):
    x = tf.constant(np.random.randn(5), tf.float32)
    for at, step in enumerate(STEPS):
        print(number, at, step(x).numpy().tobytes().hex())
"""
WAYS = [
    ["--until", "has_inf_or_nan"],
    ["--record", "runs", "--every", "1"],
    ["--record", "runs", "--every", "1", "--stats-only"],
    ["--until", "has_inf_or_nan", "--keep", "2"],
]


@pytest.mark.parametrize("at_random", [False, True], ids=["data sets", "random ops"])
def test_the_program_gets_its_own_bits(at_random: bool, tmp_path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.replace("DRAWS_AT_RANDOM", str(at_random)))
    plain = python("train.py", folder=tmp_path)
    assert plain.returncode == 0, plain.stderr
    for number, words in enumerate(WAYS):
        words = [word.replace("runs", f"runs{number}") for word in words]
        told = python("-m", "tfdbg_cli", "run", *words, "train.py", folder=tmp_path)
        assert told.stdout == plain.stdout, words
        assert "not exact" not in told.stderr
