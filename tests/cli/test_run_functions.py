"""`tfdbg run` on unchanged programs of TensorFlow 2."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

FIT = """
import keras
import numpy as np
import tensorflow as tf

tf.config.set_visible_devices([], "GPU")  # as programs do after the import, before anything runs

class Share(keras.layers.Layer):
    def call(self, x):
        return x / tf.reduce_sum(x, axis=-1, keepdims=True)  # the division

keras.utils.set_random_seed(1)
model = keras.Sequential([
    keras.layers.Input((4,)), Share(), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)
])
model.compile("adam", "mse")
x = np.random.default_rng(0).random((64, 4)).astype("float32")
PLANT
model.fit(x, x.sum(axis=1), batch_size=16, epochs=2, verbose=0, shuffle=False)
print("weights", np.concatenate([w.ravel() for w in model.get_weights()]).tobytes().hex()[:4000])
"""

LOOP = """
import tensorflow as tf

tf.keras  # loaded when it is named; nothing here needs it

@tf.function
def collatz(n):
    steps = 0
    value = tf.cast(n, tf.float32)
    if n > 0:
        while steps < 8:
            value = tf.math.log(value * (5.0 - tf.cast(steps, tf.float32)))
            steps += 1
    return value

print(collatz(tf.constant(7)).numpy())
"""


def _program(folder: Path, text: str) -> Path:
    path = folder / "train.py"
    path.write_text(text)
    return path


def _run(program: Path, *commands: str, json: bool = False) -> subprocess.CompletedProcess[str]:
    words = [word for command in commands for word in ("-c", command)]
    return python("-m", "tfdbg_cli", "run", *(["--json"] if json else []), *words, program)


def test_a_fit_with_a_planted_zero_over_zero(tmp_path) -> None:
    program = _program(tmp_path, FIT.replace("PLANT", "x[37] = 0"))
    done = _run(program, "run -f has_inf_or_nan", "origin", "detach", json=True)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(row) for row in done.stdout.splitlines() if row.startswith("{")]
    origin = rows[1]
    assert origin["kind"] == "origin"
    assert origin["op_type"] == "RealDiv"
    assert origin["file"] == str(program)
    assert "# the division" in program.read_text().splitlines()[origin["line"] - 1]
    assert origin["batch_rows"] == [5]  # row 37 in batches of 16
    assert origin["cause"].startswith("0 / 0")


def test_what_a_watch_finds_is_told_in_json_where_nobody_asks(tmp_path) -> None:
    program = _program(tmp_path, LOOP)
    done = python("-m", "tfdbg_cli", "run", "--until", "has_inf_or_nan", "--json", program)
    assert done.returncode == 0, done.stderr
    (origin,) = [json.loads(row) for row in done.stdout.splitlines() if row.startswith("{")]
    assert (origin["command"], origin["kind"], origin["op_type"]) == ("origin", "origin", "Log")


def test_a_fit_that_is_debugged_gives_the_same_weights(tmp_path) -> None:
    program = _program(tmp_path, FIT.replace("PLANT", ""))
    plain = python(program)
    assert plain.returncode == 0, plain.stderr
    for commands in (["run"] * 4 + ["detach"], ["run -f has_inf_or_nan"]):
        done = _run(program, *commands)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(plain.stdout)
        assert "could not" not in done.stderr


def test_the_screens_of_a_function(tmp_path) -> None:
    program = _program(
        tmp_path,
        "import tensorflow as tf\nw = tf.Variable([1., 2.], name='w')\n@tf.function\ndef step(x, scale):\n"
        "    return tf.reduce_sum(tf.math.log(x) * w) * scale\n"
        "print(step(tf.constant([1., 0.]), 2.0).numpy(), step(tf.constant([1., 1.]), 3.0).numpy())\n",
    )
    done = _run(program, "ri", "pf x", "pf w", "run", "lt", "pt Log:0", "ni Log", "ls", "run", "ri", "continue")
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stdout
    assert "run #1: step(x)" in done.stdout
    assert "Argument scale was 2.0 in the nearest trace and is 3.0 now." in done.stdout
    assert done.stdout.rstrip().endswith("-inf 0.0")


def test_a_nan_in_a_turn_of_a_loop_in_a_branch(tmp_path) -> None:
    program = _program(tmp_path, LOOP)
    done = _run(program, "run -f has_inf_or_nan", "origin", "detach", json=True)
    assert done.returncode == 0, done.stderr
    origin = json.loads(done.stdout.splitlines()[1])
    assert origin["op_type"] == "Log"
    assert "tf.math.log" in program.read_text().splitlines()[origin["line"] - 1]


def test_an_error_ends_the_program_as_ever(tmp_path) -> None:
    program = _program(
        tmp_path,
        "import tensorflow as tf\n@tf.function(input_signature=[tf.TensorSpec([None, None])])\n"
        "def product(x):\n    return tf.matmul(x, x, name='multiply')\nproduct(tf.ones([2, 3]))\n",
    )
    plain = python(program)
    done = _run(program, "run", "error_info", "continue")
    assert done.returncode == plain.returncode == 1
    assert "multiply" in done.stdout and "InvalidArgumentError" in done.stdout
    kept = [row for row in done.stderr.splitlines() if "Detected at node" in row or "Matrix size" in row]
    assert kept == [row for row in plain.stderr.splitlines() if "Detected at node" in row or "Matrix size" in row]
    assert done.stderr.splitlines()[-1].split("[Op:")[0] == plain.stderr.splitlines()[-1].split("[Op:")[0]


def test_no_front_end_leaves_the_classes_alone(tmp_path) -> None:
    program = _program(
        tmp_path,
        "import tensorflow as tf\nf = tf.function(lambda: 1)\nprint(type(f).__call__.__module__)\nf()\n",
    )
    done = python("-m", "tfdbg_cli", "run", "--ui", "none", program)
    assert done.returncode == 0
    assert done.stdout == python(program).stdout


ERRORS = """
import threading
import tensorflow as tf

@tf.function
def pick(x):
    return tf.gather(x, [5])

@tf.function
def outer(x):
    return pick(x)

def session(_):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(tf.gather(tf.constant([1.0]), [7]))

def tell(call, size):
    try:
        call(tf.ones([size]))
    except tf.errors.InvalidArgumentError as error:
        print(error, flush=True)

tell(outer, 1)
tell(pick.get_concrete_function(tf.ones([2])), 2)
tell(session, 1)
thread = threading.Thread(target=tell, args=(pick, 3))
thread.start()
thread.join()
"""


def _told(text: str) -> str:
    """`text` without the numbers of functions: TensorFlow counts them, and tfdbg makes some of its own."""
    return re.sub(r"(__inference_\w+?)_\d+\]", r"\1]", text)


@pytest.fixture(scope="module")
def errors(tmp_path_factory) -> tuple[Path, str]:
    """The program, and what it tells undebugged: in a new process, since a fork's own calls would be told of."""
    program = _program(tmp_path_factory.mktemp("errors"), ERRORS)
    plain = python(program, anew=True)
    assert plain.returncode == 0, plain.stderr
    return program, _told(plain.stdout)


@pytest.mark.parametrize("words", [("--ui", "none"), ("-c", "continue"), ("-c", "run", "-c", "run")])
def test_errors_of_tensorflow_say_what_they_say_without_us(errors, words) -> None:
    """`Detected at node … defined at` listed tfdbg's own calls, those that started the program included."""
    program, plain = errors
    done = python("-m", "tfdbg_cli", "run", *words, program)
    assert done.returncode == 0, done.stderr
    debugged = _told(done.stdout)
    assert plain.count("defined at") >= 4
    for line in plain.splitlines():
        assert line in debugged
    assert "tfdbg_cli/" not in debugged and "frozen runpy" not in debugged


REPLICAS = """
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

def step():
    return tf.add(1.0, 2.0)

for _ in range(3):
    print(strategy.reduce("SUM", strategy.run(step), axis=None).numpy())
"""


def test_eager_code_in_several_replicas_is_said_once_not_to_be_recorded(tmp_path) -> None:
    done = _run(_program(tmp_path, REPLICAS), "run")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    assert [line for line in lines if not line.startswith(("---", "tfdbg> "))] == ["6.0"] * 3
    assert lines[-1] == "6.0"  # no stop behind the last
    assert done.stderr.count("runs eagerly in several replicas") == 1


DTENSORS = """
import tensorflow as tf
from tensorflow.experimental import dtensor
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
mesh = dtensor.create_mesh([("batch", 2)], devices=["CPU:0", "CPU:1"])
w = dtensor.DVariable(dtensor.call_with_layout(tf.ones, dtensor.Layout.replicated(mesh, 2), [4, 1]))
half = tf.reshape(tf.range(16.0), [4, 4])
x = dtensor.pack([half, half + 1], dtensor.Layout(["batch", dtensor.UNSHARDED], mesh))

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    return loss

for _ in range(3):
    print(float(dtensor.unpack(step(x))[0]).hex(), dtensor.unpack(x * 2.0)[0].numpy().sum())
"""


def test_a_step_of_dtensors_is_made_once_and_said_not_to_be_watched(tmp_path) -> None:
    """A blind test: each step was run twice, and the program trained to other weights."""
    program = tmp_path / "train.py"
    program.write_text(DTENSORS)
    plain = python(program, folder=tmp_path)
    assert plain.stdout.count("0x1.") == 3
    for way in (["--until", "has_inf_or_nan"], ["--record", "runs"]):
        done = python("-m", "tfdbg_cli", "run", *way, "train.py", folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, plain.stdout)
        assert done.stderr.count("What computes with DTensors") == 1 and "could not" not in done.stderr


@pytest.mark.parametrize("name", ["enable", "LocalCLIDebugWrapperSession", "DebuggerCallback", "WatchOptions"])
def test_a_name_of_ours_that_is_read_before_tensorflow_is_imported(tmp_path, name) -> None:
    """Then our own modules are what imports TensorFlow."""
    text = f"import tfdbg_cli as tf_debug\n\ntf_debug.{name}\n{LOOP}"
    done = _run(_program(tmp_path, text), "run -f has_inf_or_nan", "pt value:0", "run -n")
    assert done.returncode == 0, done.stderr
    assert "could not debug" not in done.stderr
    assert "tfdbg> run -f has_inf_or_nan" in done.stdout
    assert done.stdout.splitlines()[-1] == "nan"


def test_the_variables_of_a_step_live_and_in_its_recording(tmp_path) -> None:
    program = _program(
        tmp_path,
        "import tensorflow as tf\nw = tf.Variable([1., 2.], name='w')\n"
        "t = tf.Variable(5., name='t', trainable=False)\n"
        "@tf.function\ndef step(x):\n    w.assign_add(x)\n    return tf.reduce_sum(w) * t\n"
        "for _ in range(2):\n    print(step(tf.constant([1., 0.])).numpy())\n",
    )
    done = _run(program, "run", "lv --stats", "detach", json=True)
    assert done.returncode == 0, done.stderr
    live = next(row for row in map(json.loads, done.stdout.splitlines()[-4:-2]) if row["kind"] == "variables")
    told = {row["name"]: (row["trainable"], row["written"], row["summary"]["max"]) for row in live["variables"]}
    assert told == {"w": (True, True, 2.0), "t": (False, False, 5.0)}
    done = python("-m", "tfdbg_cli", "run", "--record", tmp_path / "case", "--every", "1", program)
    assert done.returncode == 0, done.stderr
    done = python("-m", "tfdbg_cli", "open", tmp_path / "case", "--json", "-c", "runs 1", "-c", "lv --stats")
    assert json.loads(done.stdout.splitlines()[-1])["variables"] == live["variables"]
