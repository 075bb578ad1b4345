"""An exception that ends a program under `tfdbg run` opens the prompt, at the run that it came from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

# Each is a program, what the title of the stop says, and what the screens hold.
BETWEEN = """
import tensorflow as tf

@tf.function
def step(x):
    return tf.reduce_sum(x)

def limit_of(limits):
    return limits["loss"]

def check(loss, limit):
    if loss > limit:
        try:
            limit_of({})
        except KeyError:
            raise ValueError(f"the loss is {loss}")  # here

for i in range(5):
    check(float(step(tf.fill([4], float(i)))), 10)
"""
SESSION = """
import tensorflow as tf

v1 = tf.compat.v1
with tf.Graph().as_default(), v1.Session() as session:
    x = v1.placeholder(tf.float32, [2], name="x")
    y = tf.square(x, name="y")
    for size in (2, 2, 3):
        session.run(y, {x: [1.0] * size})  # here
"""
FIT = """
import keras
import numpy as np

class Strict(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        wanted = {"lost": 1}
        if batch == 2:
            wanted["losses"]  # here

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((8, 2)), np.ones(8), batch_size=1, verbose=0, callbacks=[Strict()])
"""
EAGER = """
import tensorflow as tf

w = tf.Variable([1.0, 2.0])

def turn(i):
    y = tf.reduce_sum(w * float(i))
    w.assign_sub([0.1, 0.1])
    assert y < 8, "too large"  # here

for i in range(5):
    turn(i)
"""
OWN_HOOK = """
import tensorflow as tf
import tfdbg_cli
v1 = tf.compat.v1
v1.disable_eager_execution()
step = v1.train.get_or_create_global_step()
add = v1.assign_add(step, 1)

class Ends(v1.train.SessionRunHook):
    def after_run(self, context, values):
        if values.results is not None or context.session.run(step) == 3:
            raise RuntimeError("too far")  # here

with v1.train.MonitoredTrainingSession(hooks=[tfdbg_cli.LocalCLIDebugHook(), Ends()]) as session:
    while True:
        session.run(add)
"""
CASES = {
    "with a hook of its own": (
        OWN_HOOK,
        "continue",
        "run #3: after which the program failed with RuntimeError",
        "context",
    ),
    "between runs": (
        BETWEEN,
        "continue",
        "run #4: after which the program failed with ValueError",
        "limit  int    10",
    ),
    "in a run": (SESSION, "continue", "run #3: 1 fetch (y:0); 1 feed failed with ValueError", "size"),
    "in a callback": (FIT, "continue", "run #3: after which the program failed with KeyError", "wanted"),
    "in a turn": (
        EAGER,
        "run -f has_inf_or_nan",
        "run #5: turn 5 of train.py:11 failed with AssertionError",
        "x=8.8",
    ),
}


def _ran(folder: Path, program: str, *commands: str, anew: bool = False) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(program)
    asked = [part for command in commands for part in ("-c", command)]
    return python("-m", "tfdbg_cli", "run", *asked, "train.py", folder=folder, anew=anew)


@pytest.mark.parametrize("name", CASES)
def test_the_prompt_opens_where_the_exception_came_from(tmp_path: Path, name: str) -> None:
    program, begin, title, local = CASES[name]
    done = _ran(tmp_path, program, begin, "ei", "locals", "origin", anew=name == "in a callback")
    line = next(number for number, text in enumerate(program.splitlines(), 1) if "# here" in text)
    assert f"--- run-end: {title} ---" in done.stdout
    assert f"train.py:{line} in " in done.stdout
    assert local in done.stdout.partition("tfdbg> locals")[2]
    looked = name == "in a turn"  # which was watched; of the others no value was taken
    assert ("No NaN or infinity in" in done.stdout.partition("tfdbg> origin")[2]) == looked
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == (2 if name == "between runs" else 1)
    if name == "between runs":
        assert "From      KeyError: 'loss' at " in done.stdout and "train.py:9 in limit_of" in done.stdout
    assert "commands were used" not in done.stderr


EAGER_OP = """
import tensorflow as tf

w = tf.Variable([[1.0], [2.0]])
for wide in (2, 2, 3):
    x = tf.ones([1, wide])
    loss = tf.reduce_sum(tf.matmul(x, w))  # here
    w.assign_sub([[0.1], [0.1]])
"""


@pytest.mark.parametrize("begin", ["continue", "run -f has_inf_or_nan"])
def test_of_an_eager_op_that_failed_it_is_said_what_it_was_given(tmp_path: Path, begin: str) -> None:
    done = _ran(tmp_path, EAGER_OP, begin, "ei")
    screen = done.stdout.partition("tfdbg> ei")[2]
    assert "train.py:7 in <module>" in screen
    if begin != "continue":  # without a watch nothing of it was seen
        assert "run #3: turn 3 of train.py:5 failed with InvalidArgumentError" in done.stdout
        assert "Failed    MatMul_0  MatMul" in screen
        assert "float32[1,3]" in screen and "float32[2,1]" in screen
    assert done.returncode == 1


NO_RUN = """
import tensorflow as tf

def main():
    return tf.gather(tf.sqrt([1.0, 4.0]), 5)  # here

main()
"""


def test_an_eager_op_that_fails_in_no_run_is_shown_too(tmp_path: Path) -> None:
    done = _ran(tmp_path, NO_RUN, "ei", anew=True)
    assert "run #1: train.py from line 7 on failed with InvalidArgumentError" in done.stdout
    assert "Failed    GatherV2_0" in done.stdout and "train.py:5 in main" in done.stdout
    assert "Sqrt_0:0" in done.stdout.partition("Given")[2]
    done = _ran(tmp_path, "raise ValueError('mine')", "ei")
    assert "--- run-end" not in done.stdout and done.stderr.rstrip().endswith("ValueError: mine")


OF_AN_OP = """
import tensorflow as tf

@tf.function
def step(i):
    return tf.gather([1.0, 2.0], i)

try:
    step(tf.constant(1))
    step(tf.constant(2))
except tf.errors.InvalidArgumentError as error:
    raise RuntimeError("the step failed") from error
"""
CAUGHT = """
import tensorflow as tf

@tf.function
def step(x):
    return tf.reduce_sum(x)

step(tf.ones([2]))
try:
    step(tf.ones([2]), 3)
except TypeError:
    print("caught")
"""


def test_nothing_is_shown_twice_and_nothing_of_what_is_caught(tmp_path: Path) -> None:
    done = _ran(tmp_path, OF_AN_OP, "continue", "continue", "ei")
    assert done.stdout.count("--- run-end") == 1
    assert "failed with InvalidArgumentError" in done.stdout
    assert "before these commands were used: ei." in done.stderr
    assert "RuntimeError: the step failed" in done.stderr
    done = _ran(tmp_path, CAUGHT, "continue", "ei")
    assert "--- run-end" not in done.stdout
    assert "caught" in done.stdout
    assert done.returncode == 0


def test_who_left_the_debugger_is_not_asked(tmp_path: Path) -> None:
    done = _ran(tmp_path, BETWEEN, "detach", "ei")
    assert "--- run-end" not in done.stdout
    assert "before these commands were used: ei." in done.stderr


def test_ending_the_program_at_its_end_leaves_it_its_own_exception(tmp_path: Path) -> None:
    done = _ran(tmp_path, BETWEEN, "continue", "exit --abort")
    assert done.stderr.rstrip().endswith("ValueError: the loss is 12.0")
    assert "KeyboardInterrupt" not in done.stderr
    assert done.returncode == 1


SHAPES = """
import keras
import numpy as np

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
model.compile("sgd", "mse")
wanted = np.ones((8, 3), "float32")
model.fit(np.ones((8, 4), "float32"), wanted, verbose=0)  # here
"""
NO_TENSORFLOW = """
import tensorflow as tf

limits = {}
print(limits["loss"])
"""


def test_an_error_while_the_first_graph_is_made_opens_the_prompt(tmp_path: Path) -> None:
    done = _ran(tmp_path, SHAPES, "ei", "locals", "py wanted.shape")
    line = next(number for number, text in enumerate(SHAPES.splitlines(), 1) if "# here" in text)
    assert "--- run-end: run #1: before which the program failed with ValueError ---" in done.stdout
    assert f"train.py:{line} in <module>" in done.stdout and "(8, 3)" in done.stdout
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1


def test_an_error_that_has_nothing_to_do_with_tensorflow_ends_the_program_as_ever(tmp_path: Path) -> None:
    done = _ran(tmp_path, NO_TENSORFLOW, "ei")
    assert "run-end" not in done.stdout
    assert done.returncode == 1 and "KeyError" in done.stderr
