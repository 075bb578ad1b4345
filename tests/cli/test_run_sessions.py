"""The program that introduced tfdbg in 2017, under every way to debug it without a screen."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

PROGRAM = """
import numpy as np
import tensorflow.compat.v1 as tf
WRAP_IMPORT

tf.disable_eager_execution()
xs = np.linspace(-0.5, 0.49, 100)
x = tf.placeholder(tf.float32, shape=[None], name="x")
y = tf.placeholder(tf.float32, shape=[None], name="y")
k = tf.Variable([0.0], name="k")
y_hat = tf.multiply(k, x, name="y_hat")
sse = tf.reduce_sum((y - y_hat) * (y - y_hat), name="sse")
train_op = tf.train.GradientDescentOptimizer(learning_rate=0.02).minimize(sse)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
WRAP
for _ in range(10):
    sess.run([train_op, sse], feed_dict={x: xs, y: 42 * xs})
print("k =", sess.run(k).tobytes().hex())
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("programs")
    wrapped = PROGRAM.replace("WRAP_IMPORT", "import tfdbg_cli as tf_debug")
    texts = {
        "plain": PROGRAM.replace("WRAP_IMPORT", "").replace("WRAP", ""),
        "wrapped": wrapped.replace("WRAP", "sess = tf_debug.LocalCLIDebugWrapperSession(sess)"),
    }
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return {name: folder / f"{name}.py" for name in texts}


@pytest.fixture(scope="module")
def undebugged(programs) -> str:
    done = python(programs["plain"])
    assert done.returncode == 0
    return done.stdout


def _commands(*commands: str) -> list[str]:
    return [word for command in commands for word in ("-c", command)]


def test_from_a_pipe(programs, undebugged) -> None:
    done = python(programs["wrapped"], given="run -t 3\nlt -n sse\n\npt y_hat:0[0:2]\nrun -n\nexit\n")
    assert done.returncode == 0, done.stderr
    assert "tfdbg> lt -n sse" in done.stdout
    assert "Tensor y_hat:0[0:2]" in done.stdout
    assert "ERROR" not in done.stdout
    assert done.stdout.endswith(undebugged)


def test_when_nobody_is_there_it_trains_as_without_us(programs, undebugged) -> None:
    done = python(programs["wrapped"])
    assert (done.returncode, done.stdout) == (0, undebugged)
    assert "Standard input holds no commands: the program goes on undebugged." in done.stderr


@pytest.mark.parametrize("name", ["plain", "wrapped"])
def test_under_tfdbg_run_with_commands(programs, undebugged, name) -> None:
    done = python("-m", "tfdbg_cli", "run", *_commands("run -t 2", "lt", "pt sse:0", "run", "pf x"), programs[name])
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert [row for row in rows if row.startswith("tfdbg>")] == [
        "tfdbg> run -t 2", "tfdbg> lt", "tfdbg> pt sse:0", "tfdbg> run", "tfdbg> pf x",
    ]  # fmt: skip
    assert any(row.startswith("Tensor sse:0") for row in rows)
    assert done.stdout.endswith(undebugged)


def test_under_tfdbg_run_in_json(programs, undebugged) -> None:
    commands = _commands("run", "lt", "pt sse:0", "nonsense", "run -n")
    done = python("-m", "tfdbg_cli", "run", "--json", *commands, programs["plain"])
    assert done.returncode == 0, done.stderr
    *rows, last = done.stdout.splitlines()
    assert f"{last}\n" == undebugged
    answers = [json.loads(row) for row in rows]
    kinds = ["decision", "tensors", "tensor", None, "decision"]
    assert [answer.get("kind") for answer in answers] == kinds
    assert answers[0]["exact"] is True
    assert answers[0]["differs"] == []
    assert "sse:0" in {tensor["name"] for tensor in answers[1]["tensors"]}
    assert isinstance(answers[2]["value"], float)


@pytest.mark.parametrize("name", ["plain", "wrapped"])
def test_a_watch_that_never_hits_ends_with_the_program(programs, undebugged, name) -> None:
    """All runs count but initializing; those of a session that the program wraps have a debugger of their own."""
    done = python("-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", "-c", "origin", programs[name])
    assert (done.returncode, done.stdout) == (0, undebugged)
    assert "The program ended before these commands were used: origin." in done.stderr
    assert "tfdbg: Nothing passed has_inf_or_nan in 11 runs." in done.stderr


@pytest.mark.parametrize("name", ["plain", "wrapped"])
def test_a_watch_that_hit_says_nothing_else_at_the_end(programs, tmp_path, name) -> None:
    path = tmp_path / "train.py"
    path.write_text(programs[name].read_text().replace("42 * xs", "xs / 0"))
    done = python("-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", "-c", "origin", path)
    assert "harm was done" in done.stdout or "passed has_inf_or_nan" in done.stdout, done.stderr
    assert "Nothing" not in done.stderr


def test_a_wrapped_session_without_runs_is_no_watched_program(programs, tmp_path) -> None:
    path = tmp_path / "train.py"
    head = programs["wrapped"].read_text().split("sess.run")[0]
    path.write_text(f"{head}\nsess = tf_debug.LocalCLIDebugWrapperSession(sess)\n")
    done = python("-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", path)
    assert "tfdbg: Nothing was watched for has_inf_or_nan" in done.stderr


def test_no_front_end_leaves_the_program_alone(programs, undebugged) -> None:
    done = python("-m", "tfdbg_cli", "run", "--ui", "none", programs["plain"])
    assert (done.returncode, done.stdout) == (0, undebugged)
    assert "tfdbg" not in done.stderr


def test_an_error_of_an_op_opens_the_prompt_and_ends_the_program_as_ever(tmp_path) -> None:
    program = tmp_path / "fails.py"
    program.write_text(
        "import tensorflow.compat.v1 as tf\ntf.disable_eager_execution()\nx = tf.placeholder(tf.float32, name='x')\n"
        "y = tf.matmul(x, x, name='product')\nsess = tf.Session()\nsess.run(y, {x: [[1., 2.]]})\n"
    )
    plain = python(program)
    done = python("-m", "tfdbg_cli", "run", *_commands("run", "error_info", "continue"), program)
    assert done.returncode == plain.returncode == 1
    assert "InvalidArgumentError" in done.stdout
    assert "product" in done.stdout
    assert done.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
    # TensorFlow's own message names the stack under which the op was made; the traceback is the program's.
    assert "launch.py" not in done.stderr.split("Detected at node")[0]


_IN_THREADS = """
import threading, time
import tensorflow.compat.v1 as tf

x = tf.placeholder(tf.float32, [None], name="x")
y = tf.log(x, name="y")
sess = tf.Session()

def work(number):
    for turn in range(10):
        sess.run(y, {x: [1.0, 0.0 if number and turn == 3 else 1.0]})

threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("the main thread goes on")
"""


@pytest.mark.parametrize("handler", ["default_int_handler", "SIG_IGN"])
def test_to_abort_in_another_thread_ends_the_program(tmp_path, handler: str) -> None:
    path = tmp_path / "in_threads.py"
    begins = f"import signal\nsignal.signal(signal.SIGINT, signal.{handler})\n"
    path.write_text(f"{begins}import tensorflow.compat.v1 as tf\ntf.disable_eager_execution()\n{_IN_THREADS}")
    done = python("-m", "tfdbg_cli", "run", "--watch", *_commands("exit --abort"), path)
    assert "the debugger was told to end the program" in done.stderr
    ignored = handler == "SIG_IGN"
    assert ("The program ignores Ctrl-C, so only this thread of it ends." in done.stderr) is ignored
    assert ("the main thread goes on" in done.stdout) is ignored
    assert done.returncode == (0 if ignored else -signal.SIGINT)
