"""`tfdbg run --record` of programs that nobody watches: their output, their errors, the names in the recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.launched import python

from tfdbg_cli.api.recordings import open_recording

pytestmark = pytest.mark.tf

FAILS = """
import tensorflow as tf

@tf.function
def inverse(x):
    return tf.linalg.inv(x)

for size in (1.0, 0.0, 0.0):
    try:
        print(float(inverse(tf.fill([1, 1], size))[0, 0]))
    except tf.errors.InvalidArgumentError as error:
        print("caught", type(error).__name__)
"""
POLICY = """
import numpy as np
import tensorflow as tf

class Policy(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.ones([3, 2]))
    def __call__(self, s):
        return tf.nn.softmax(s @ self.w)

policy = Policy()
optimizer = tf.keras.optimizers.SGD(0.1)

def learn(states, rewards):
    s, r = tf.constant(states), tf.constant(rewards)
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(policy(s)[:, 0] * r)
    optimizer.apply_gradients(zip(tape.gradient(loss, [policy.w]), [policy.w]))

for turn in range(4):
    learn(np.full([5, 3], 0.1 * turn, "f"), np.full([5], 1.0 + turn, "f"))
print(float(tf.reduce_sum(policy.w)))
"""


def test_what_the_program_catches_is_one_sentence_and_its_output_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILS)
    plain = python("train.py", folder=tmp_path)
    made = python("-m", "tfdbg_cli", "run", "--record", "runs", "train.py", folder=tmp_path)
    assert made.returncode == 0 and made.stdout == plain.stdout, made.stderr
    assert made.stderr.count("failed with InvalidArgumentError") == 1, made.stderr
    opened = python("-m", "tfdbg_cli", "open", "runs", "--json", "-c", "runs", folder=tmp_path)
    errors = [run["error"] for run in json.loads(opened.stdout.splitlines()[0])["runs"]]
    assert errors.count("InvalidArgumentError") == 2, opened.stdout


@pytest.mark.parametrize(
    "options", [(), ("--stats-only",), ("--rules", "rules.toml")], ids=lambda words: " ".join(words)
)
@pytest.mark.parametrize("ends", ["inverse(tf.fill([2, 2], 1.0))", "raise KeyError('mine')"], ids=["op", "python"])
def test_what_ends_the_program_is_recorded_and_its_output_is_its_own(
    tmp_path: Path, ends: str, options: tuple[str, ...]
) -> None:
    """A blind test: where nobody was there, a page on the exception stood in the output of the program."""
    (tmp_path / "train.py").write_text(f"{FAILS}{ends}\n")
    (tmp_path / "rules.toml").touch()
    plain = python("train.py", folder=tmp_path)
    made = python("-m", "tfdbg_cli", "run", "--record", "runs", *options, "train.py", folder=tmp_path)
    assert (made.returncode, made.stdout) == (1, plain.stdout), made.stderr
    assert "Traceback" in made.stderr, made.stderr
    assert ("Input is not invertible" if ends.startswith("inverse") else "KeyError: 'mine'") in made.stderr
    runs = open_recording(tmp_path / "runs").runs
    failed = ends.startswith("inverse")
    assert [run.error is not None for run in runs] == [False, True, True] + [True] * failed
    if failed and "--stats-only" not in options:
        assert (2, 2) in [fed.shape for fed in runs[-1].call.feeds.values()], "with the values of that run"


def test_a_variable_and_an_argument_have_one_name_in_all_runs_of_a_recording(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(POLICY)
    made = python("-m", "tfdbg_cli", "run", "--record", "runs", "train.py", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    asked = [word for at in range(1, 5) for word in ("-c", f"runs {at}", "-c", "run_info")]
    opened = python("-m", "tfdbg_cli", "open", "runs", "--json", "-c", "trends", *asked, folder=tmp_path)
    trends, *pages = map(json.loads, opened.stdout.splitlines())
    weights = {series["name"]: series["steps"] for series in trends["series"] if series["quantity"] == "weight"}
    assert {name: len(steps) for name, steps in weights.items()} == {"policy.w": 4}, trends
    infos = [page for page in pages if page["kind"] == "run_info"]
    assert [{"r", "s"} <= set(info["feeds"]) for info in infos] == [True] * 4, infos


EAGER_FAILS = """
import tensorflow as tf

w = tf.Variable([1.0, 2.0])
for turn in range(6):
    w.assign_add(w * 0.1)
    y = tf.exp(w)
    if turn == 3:
        raise ValueError("no more")
    z = tf.reduce_sum(y)
"""
STEP_FAILS = """
import keras
import numpy as np
import tensorflow as tf

class Picky(keras.layers.Layer):
    def call(self, x):
        if hasattr(x, "numpy") and float(tf.reduce_max(x)) > 50:
            raise ValueError("too large")
        return x * 2.0

model = keras.Sequential([keras.Input((3,)), Picky(), keras.layers.Dense(1)])
model.compile("sgd", "mse", run_eagerly=True)
x = np.ones((30, 3), "f")
x[25, 1] = 99
try:
    model.fit(x, x[:, :1], batch_size=10, shuffle=False, verbose=0)
except ValueError:
    print("caught")
"""


@pytest.mark.parametrize(
    ("text", "runs", "said", "code"),
    [(EAGER_FAILS, 4, "no more", 1), (STEP_FAILS, 3, "too large", 0)],
    ids=["turn", "step"],
)
def test_what_ran_eagerly_until_an_error_is_recorded_with_it(
    tmp_path: Path, text: str, runs: int, said: str, code: int
) -> None:
    """The run that people record for was left out: an exception of Python's own had ended it."""
    (tmp_path / "train.py").write_text(text)
    made = python("-m", "tfdbg_cli", "run", "--ui", "none", "--record", "runs", "train.py", folder=tmp_path)
    assert made.returncode == code, made.stderr
    recording = open_recording(tmp_path / "runs")
    assert [run.error is None for run in recording.runs] == [True] * (runs - 1) + [False]
    last = recording.runs[-1]
    assert last.error is not None and said in last.error.message
    assert len(last.tensors) > 0
