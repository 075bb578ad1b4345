"""`tfdbg run --until has_inf_or_nan` on programs that run eagerly, unchanged."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from support.eager_programs import LOOP, PROGRAMS, EagerProgram
from support.launched import launched, python

pytestmark = pytest.mark.tf


def _done(tmp_path: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "train.py"
    script.write_text(text)
    return launched(script, *arguments)


@cache
def _printed(name: str) -> str:
    """What the program called so prints without tfdbg, in a folder of its own."""
    with TemporaryDirectory() as folder:
        _write_packages(PROGRAMS[name], Path(folder))
        plain = _done(Path(folder), PROGRAMS[name].text)
    assert plain.returncode == 0, plain.stderr
    return plain.stdout


def _write_packages(program: EagerProgram, folder: Path) -> None:
    for module, text in program.packages.items():
        (folder / "site-packages").mkdir(exist_ok=True)
        (folder / "site-packages" / f"{module}.py").write_text(text)


def _commands(*commands: str) -> list[str]:
    return [word for command in commands for word in ("-c", command)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_op_that_is_wrong_is_stopped_at(tmp_path, name) -> None:
    program: EagerProgram = PROGRAMS[name]
    _write_packages(program, tmp_path)
    done = _done(
        tmp_path, program.text, "--json", "--until", "has_inf_or_nan", *_commands("origin", "frames", "locals")
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    found: dict[str, Any] = {each["kind"]: each for each in map(json.loads, (s for s in said if s.startswith("{")))}
    assert "".join(s + "\n" for s in said if not s.startswith("{")) == _printed(name)
    origin = found["origin"]
    assert origin["op_type"] == program.origin
    source = Path(origin["file"]).read_text().splitlines()[origin["line"] - 1]
    assert program.line in source
    assert program.cause in origin["cause"]
    assert origin["elements"][0]["index"] == list(program.element)
    assert origin["batch_rows"] == list(program.rows)
    frames = found["frames"]["frames"]
    assert frames[found["frames"]["current"]]["line"] == origin["line"]
    shown = {name: each["value"] for name, each in found["locals"]["locals"].items()}
    assert {name: shown[name][: len(start)] for name, start in program.names.items()} == program.names


@pytest.mark.parametrize("name", ["loop", "keras", "data", "py_function"])
def test_going_on_changes_nothing_that_the_program_prints(tmp_path, name) -> None:
    done = _done(
        tmp_path,
        PROGRAMS[name].text,
        "--until",
        "has_inf_or_nan",
        *_commands(*["run -f has_inf_or_nan"] * 20, "continue"),
    )
    assert done.returncode == 0
    lines = _printed(name).splitlines()
    assert [line for line in done.stdout.splitlines() if line in lines] == lines


def test_python_in_the_frame(tmp_path) -> None:
    done = _done(
        tmp_path,
        LOOP.text,
        "--until",
        "has_inf_or_nan",
        *_commands("py x.shape, i", "py x + 1", "py 1 / 0"),
    )
    assert "(TensorShape([4, 3]), 1)" in done.stdout
    assert "array([[1., 1., 1.]," in done.stdout
    assert "ZeroDivisionError: division by zero" in done.stdout


def test_turns_of_the_loop_are_runs(tmp_path) -> None:
    done = _done(tmp_path, LOOP.text, *_commands("run -t 2", "lt", "run -n", "ri", "run", "ri"))
    assert "run-end: run #2: turn 2 of train.py:7" in done.stdout
    assert "w/after_update:0" in done.stdout
    assert "About to run #4: turn 4 of train.py:7" in done.stdout
    assert "Done: run #4: turn 4 of train.py:7" in done.stdout


def test_the_case_is_taken_home_and_turns_are_compared(tmp_path) -> None:
    case = tmp_path / "case"
    done = _done(
        tmp_path,
        LOOP.text,
        *_commands("run -f has_inf_or_nan --keep 2", "history MatMul_0", f"bundle {case}", f"bundle --values {case}"),
    )
    assert "Tensor MatMul_0:0 in 2 runs" in done.stdout
    assert "What ran eagerly cannot be made again" in done.stdout
    opened = python("-m", "tfdbg_cli", "open", case, "--json", "-c", "origin")
    origin = json.loads(opened.stdout.splitlines()[-1])
    assert (origin["op_type"], origin["batch_rows"]) == (LOOP.origin, list(LOOP.rows))


def test_steps_and_breakpoints_at_the_prompt(tmp_path) -> None:
    done = _done(
        tmp_path,
        LOOP.text,
        "--json",
        *_commands("break Log when input.min <= 0", "continue", "set Log_0 -1", "over", "here", "delete", "continue"),
    )
    said = {each["kind"]: each for each in map(json.loads, (s for s in done.stdout.splitlines() if s[:1] == "{"))}
    assert said["set_live"]["summary"]["max"] == -1
    assert LOOP.text.splitlines()[said["here"]["line"] - 1].startswith("    w.assign_sub")
    assert "-inf" not in done.stdout.splitlines()


def test_a_step_of_keras_without_a_line_of_the_program_counts(tmp_path) -> None:
    program = """
import keras
import numpy as np

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", "mse", run_eagerly=True)
x = np.ones((8, 4), "f")
SPOIL
model.fit(x, np.ones((8, 3), "f"), batch_size=4, verbose=0, shuffle=False)
"""
    asked = ("--json", "--until", "has_inf_or_nan", *_commands("origin"))
    done = _done(tmp_path, program.replace("SPOIL", "x[5, 1] = np.nan"), *asked)
    origin = json.loads(next(row for row in done.stdout.splitlines() if row.startswith("{")))
    assert origin["tensor"].startswith("data") and origin["batch_rows"] == [1], done.stderr
    fine = _done(tmp_path, program.replace("SPOIL", ""), *asked)
    assert "Nothing passed has_inf_or_nan" in fine.stderr


def test_a_mask_stops_nothing_and_is_told_of(tmp_path) -> None:
    """The mask is as people write it for attention; of a row that is all masked comes NaN."""
    head = "import numpy as np\nimport tensorflow as tf\n\n\nw = tf.Variable(tf.ones((2, 2)))\n"
    loop = (
        "for i in range(3):\n"
        "    scores = tf.where(tf.constant([[True, True], [True, False]]), w * 2.0, -np.inf)\n"
        "    w.assign_sub(0.1 * tf.nn.softmax(scores))\n"
        "print(w.numpy())\n"
    )
    done = _done(tmp_path, head + loop, "--until", "has_inf_or_nan")
    assert "ignored 1 place: -inf made on purpose at train.py:7" in done.stderr
    assert "Nothing passed has_inf_or_nan in 3 runs" in done.stderr
    done = _done(
        tmp_path, head + loop.replace("[True, False]", "[i < 1, False]"), "--until", "has_inf_or_nan", "-c", "origin"
    )
    assert "Softmax of a row that is nothing but -inf" in done.stdout


def test_a_recording_of_epochs_is_one_series(tmp_path) -> None:
    text = """
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2, activation="relu", name="hidden")])
optimizer = keras.optimizers.SGD(0.1)
x = tf.random.normal([6, 4])
data = tf.data.Dataset.from_tensor_slices(x).batch(2)
for epoch in range(2):
    for batch in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch, training=True) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
    done = _done(tmp_path, text, "--record", str(tmp_path / "r"))
    assert "6 runs were recorded" in done.stderr, done.stderr
    asked = _commands("history Mean_0", "trends", "diff 2 4", "runs")
    opened = python("-m", "tfdbg_cli", "open", tmp_path / "r", "--json", *asked)
    history, trends, difference, runs = map(json.loads, opened.stdout.splitlines())
    assert [point["run"] for point in history["points"]] == [1, 2, 3, 4, 5, 6]
    assert all(series["steps"] == [1, 2, 3, 4, 5, 6] for series in trends["series"])
    assert ("sequential/hidden", "gradient") in {(each["name"], each["quantity"]) for each in trends["series"]}
    assert difference["first"]["a"].startswith("IteratorGetNext_0") and not difference["only_a"]
    assert [f"turn {n} of train.py:11" in str(run) for n, run in enumerate(runs["runs"], 1)] == [True] * 6


def test_a_recorded_turn_holds_large_variables_before_and_after_their_update(tmp_path) -> None:
    text = """
import numpy as np
import tensorflow as tf

w = tf.Variable(np.eye(200, dtype="f"), name="w")
b = tf.Variable(np.ones((200, 200), "f"), name="b")
for i in range(3):
    x = tf.constant(np.full((4, 200), 1.0 + i, "f"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.relu(x @ w) + tf.reduce_sum(b))
    w.assign_sub(0.5 * tape.gradient(loss, w))
    b.assign(b * 0.5)
"""
    _done(tmp_path, text, "--record", str(tmp_path / "r"))
    opened = python("-m", "tfdbg_cli", "open", tmp_path / "r", "--json", *_commands("trends"))
    trends = json.loads(opened.stdout.splitlines()[0])
    series = {(each["name"], each["quantity"]): each["values"] for each in trends["series"]}
    assert series["w", "weight"][0] == pytest.approx(200**0.5), opened.stdout
    assert [len(series["w", quantity]) for quantity in ("gradient", "weight", "update")] == [3, 3, 3]


def test_a_place_that_the_program_never_comes_to_is_told_at_its_end(tmp_path) -> None:
    step = "import tensorflow as tf\n\nstep = tf.function(lambda x: x * 2)\nstep(1.0)\n"
    program = f"{step}for i in range(3):\n    tf.sqrt(float(i))\n"
    done = _done(tmp_path, program, "-c", "until Log when nan > 0")
    assert "tfdbg: The program never came to Log when nan > 0." in done.stderr, done.stderr
    assert "A tf.function or a session is run as a whole: `run` captures that" in done.stderr
    assert "never came" not in _done(tmp_path, program, "-c", "until Sqrt", "-c", "continue").stderr
    waits = _done(tmp_path, program, *_commands("break Log", "break Sqrt when nan > 0", "continue"))
    assert "tfdbg: The program never came to Log and Sqrt when nan > 0, where it was to break." in waits.stderr


def test_a_watch_by_a_filter_that_there_is_not_is_told_at_the_end(tmp_path) -> None:
    program = "import tensorflow as tf\n\nstep = tf.function(lambda x: x * 2)\nprint(step(1.0).numpy())\n"
    done = _done(tmp_path, program, "--until", "has_nann")
    assert done.stdout.split() == ["2.0"]
    assert done.stderr.splitlines()[-1] == "tfdbg: Nothing was watched: There is no filter 'has_nann'."
    added = program.replace(
        "\n\n", "\nimport tfdbg_cli\ntfdbg_cli.add_tensor_filter('mine', lambda d, v: False)\n", 1
    )
    assert "Nothing passed mine in 1 run" in _done(tmp_path, added, "--until", "mine").stderr


def test_a_mask_in_code_without_variables_is_told_of(tmp_path) -> None:
    """A blind test: of a sampling loop, whose turns are no runs, it was said that nothing passed."""
    loop = (
        "import numpy as np\nimport tensorflow as tf\n\nfor i in range(3):\n"
        "    scores = tf.where(tf.constant([True, False]), tf.constant([1.0, 2.0]), -np.inf)\n"
        "    print(float(tf.reduce_sum(tf.nn.softmax(scores))))\n"
    )
    done = _done(tmp_path, loop, "--until", "has_inf_or_nan")
    assert "(ignored 1 place: -inf made on purpose at train.py:5)." in done.stderr, done.stderr
    assert done.stderr.count("The watch goes on.") == 1 and done.stdout == "1.0\n1.0\n1.0\n"
    kept = "mask = tf.where(tf.constant([True, False]), tf.constant([1.0, 2.0]), -np.inf)\n"
    done = _done(tmp_path, f"{loop[:46]}{kept}", "--until", "has_inf_or_nan")
    assert "Nothing passed has_inf_or_nan in 1 op that ran eagerly." in done.stderr, "nothing has become of it yet"


def test_a_logarithm_that_is_thrown_away_stops_nothing_and_its_gradient_does(tmp_path) -> None:
    head = "import tensorflow as tf\n\nw = tf.Variable([2.0, 0.0, 1.0])\nfor i in range(4):\n"
    chosen = "safe = tf.where(w > 0, tf.math.log(w), 0.)\n"
    fine = f"    {chosen}    w.assign_add(0.1 * safe)\nprint(w.numpy())\n"
    done = _done(tmp_path, head + fine, "--until", "has_inf_or_nan")
    assert "Run #1: ignored 1 place: -inf made on purpose at train.py:5. The watch goes on." in done.stderr
    assert "Nothing passed has_inf_or_nan in 4 runs" in done.stderr
    stops = "    if i == 2:\n        tf.math.log(w)\n"
    done = _done(
        tmp_path, head + fine.replace("print", stops + "print"), "--until", "has_inf_or_nan", "-c", "ignored"
    )
    assert "#1" in done.stdout and "a value that tf.where replaces" in done.stdout, done.stdout
    trap = f"    with tf.GradientTape() as tape:\n        {chosen}    w.assign_sub(0.1 * tape.gradient(safe, w))\n"
    done = _done(tmp_path, head + trap, "--until", "has_inf_or_nan", "--json", "-c", "origin")
    origin = json.loads(next(row for row in done.stdout.splitlines() if row.startswith("{")))
    assert (origin["op_type"], origin["line"]) == ("Log", 6), "where it can be mended"
    assert "a tf.where, hides it from the result, but not from the gradient" in origin["cause"]
    assert "(double where)" in origin["suggestion"]


def test_steps_from_the_start_of_a_run_and_past_a_function(tmp_path) -> None:
    text = (
        "import tensorflow as tf\n\nv = tf.Variable(2.0)\n\n\n@tf.function\ndef f(x):\n    return x * v\n\n\n"
        "for i in range(2):\n    a = v + 1.0\n    b = f(a)\n    c = b * 2.0\n    v.assign_sub(0.1)\n"
        "print(c.numpy())\n"
    )
    for step in ("step", "over"):
        done = _done(tmp_path, text, *_commands(*[step] * 5))
        stops = [line for line in done.stdout.splitlines() if line.startswith("--- ")]
        assert [stop.partition(": ")[2].partition(" at ")[2].split(":")[0] or "start" for stop in stops] == [
            "start", "AddV2_0", "start", "Mul_0", "AssignSubVariableOp_0",
        ], done.stdout  # fmt: skip
        assert done.stdout.endswith("11.02\n")


OUTER_TAPE = """
import tensorflow as tf

v = tf.Variable([0.0, 4.0])


@tf.function
def fwd(x):
    return tf.reduce_sum(tf.sqrt(v) * x)  # BUG


for k in range(3):
    with tf.GradientTape() as tape:
        loss = fwd(tf.constant([0.0, 1.0]) if k < 1 else tf.constant([1.0, 1.0])) * 2.0
    g = tape.gradient(loss, v)
    v.assign_sub(0.1 * TAKEN)
"""


def test_a_gradient_that_eager_code_asks_of_a_function_is_shown_at_the_line_of_its_op(tmp_path) -> None:
    text = OUTER_TAPE.replace("TAKEN", "tf.clip_by_value(g, -1.0, 1.0)")
    done = _done(tmp_path, text, "--watch", "--json", *_commands("origin", "node_info gradients/mul_grad/Mul_1"))
    origin, node = map(json.loads, (row for row in done.stdout.splitlines() if row.startswith("{")))
    assert "BUG" in text.splitlines()[origin["line"] - 1], done.stdout
    assert (origin["op_type"], origin["forward"]) == ("SqrtGrad", "fwd/Sqrt")
    assert "fwd/Sqrt:0" in origin["inputs"]
    assert node["forward"] == "fwd/mul"
    own = [frame for frame in node["traceback"] if frame["file"] == origin["file"]]
    assert "BUG" in own[-1]["text"]


def test_a_gradient_of_a_function_among_eager_ops_reads_what_that_function_made(tmp_path) -> None:
    """Of the function's call nothing is there twice, and the values in its gradient are known."""
    text = OUTER_TAPE.replace("[0.0, 4.0]", "[1.0, 4.0]").replace("TAKEN", "tf.math.log(g - 5.0)")
    done = _done(
        tmp_path,
        text,
        "--until",
        "has_nan",
        "--json",
        *_commands("lt", "ni 'gradient_of_fwd_0/gradients/Sqrt_grad/SqrtGrad'"),
    )
    tensors, node = map(json.loads, (row for row in done.stdout.splitlines() if row.startswith("{")))
    names = {each["name"] for each in tensors["tensors"]}
    assert {"fwd_0/Sqrt:0", "gradient_of_fwd_0/gradients/Sqrt_grad/SqrtGrad:0"} <= names, names
    assert not [name for name in names if name.startswith("gradient_of_fwd_0/fwd")]
    assert "fwd_0/Sqrt:0" in node["inputs"]
    assert node["forward"] == "fwd_0/Sqrt"


def test_a_recorded_call_of_a_function_begins_with_the_eager_ops_before_it(tmp_path) -> None:
    text = """
import numpy as np
import tensorflow as tf

w = tf.Variable([1.0, 2.0, 3.0], name="w")
halved = tf.function(lambda x: x * 0.5)

@tf.function
def step(x):
    loss = tf.reduce_sum(w * x)
    w.assign_sub(x)
    return loss

for row in np.array([[1, 2, 3], [4, 0, 6], [7, 8, 9]], "f"):
    step(halved(tf.math.log(tf.constant(row))))
"""
    done = _done(tmp_path, text, "--record", str(tmp_path / "r"))
    assert "6 runs were recorded" in done.stderr, done.stderr
    opened = python("-m", "tfdbg_cli", "open", tmp_path / "r", "--json", *_commands("runs 4", "origin", "lt"))
    found: dict[str, Any] = {each["kind"]: each for each in map(json.loads, opened.stdout.splitlines())}
    origin = found["origin"]
    assert (origin["op_type"], origin["line"], origin["batch_rows"]) == ("Log", 15, [1])
    assert origin["cause"] == "Log of 0: eager/row:0 is 0 at 1 element."
    # What the other function did inside is in the run of its own: here is what it gave.
    names = [tensor["name"] for tensor in found["tensors"]["tensors"] if tensor["name"].startswith("eager/")]
    assert names == ["eager/Log_0:0", "eager/<lambda>_0/Identity:0"]


def test_a_recording_says_which_turns_it_has_the_functions_of_alone(tmp_path) -> None:
    text = """
import tensorflow as tf

w = tf.Variable([[1.0]])
forward = tf.function(lambda x: x * 2.0)
for i in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(forward(tf.fill([2, 1], 1.0 + i)) @ w)
    w.assign_sub(tape.gradient(loss, w))
"""
    done = _done(tmp_path, text, "--record", str(tmp_path / "r"))
    assert "Turns of train.py:6 compute with variables beside the functions that they call" in done.stderr
    alone = text.replace("loss = tf.reduce_sum(", "loss = (").replace(" @ w)", ")").split("    w.assign")[0]
    done = _done(tmp_path, alone, "--record", str(tmp_path / "s"))
    assert "4 runs were recorded" in done.stderr and "compute with variables" not in done.stderr, done.stderr


def test_a_tensor_that_a_recorded_function_was_given_dies_when_the_program_lets_go_of_it(tmp_path) -> None:
    text = """
import weakref
import tensorflow as tf

plain = tf.function(lambda x: tf.reduce_sum(tf.sqrt(x)))
looped = tf.function(lambda x: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x + 1.0), [0, x])[1])
for function in (plain, looped):
    for i in range(3):
        x = tf.fill([1000], float(i)) + 1.0
        held = weakref.ref(x)
        function(x)
        del x
        print(held() is None)
"""
    done = _done(tmp_path, text, "--record", str(tmp_path / "r"))
    assert done.stdout.splitlines() == ["True"] * 6


def test_a_run_that_the_program_never_comes_to_is_told_at_its_end(tmp_path) -> None:
    program = "import tensorflow as tf\n\nstep = tf.function(lambda x: x * 2)\nfor _ in range(5):\n    step(1.0)\n"
    done = _done(tmp_path, program, "-c", "run -t 100")
    assert "The program ended 95 runs before the end of that which was to be captured." in done.stderr, done.stderr
    assert "The program ended" not in _done(tmp_path, program, "-c", "run -t 3", "-c", "continue").stderr


def test_what_an_epoch_or_a_fold_begins_with_is_no_step(tmp_path) -> None:
    """A blind test: from the second epoch on a sum that began with tf.zeros had the whole epoch be one run."""
    (tmp_path / "train.py").write_text("""\
import numpy as np, tensorflow as tf
x = np.ones([8, 4], "f")

def train(w):
    for epoch in range(3):
        total = tf.zeros([])
        for i in range(0, 8, 2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x[i : i + 2] @ w) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            total += loss

for fold in range(2):
    w = tf.Variable(tf.random.stateless_normal([4, 1], [1, 2]))
    train(w)
""")
    done = python("-m", "tfdbg_cli", "run", "--watch", "train.py", folder=tmp_path)
    assert "Nothing passed bad_result in 24 runs" in done.stderr, done.stderr
