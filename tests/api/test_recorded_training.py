"""Runs recorded while a program of TensorFlow goes on, in every way to ask for it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.keras_steps import called_again, scope
from support.launched import begun, python
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.tensors import summary_of
from tfdbg_cli.model.values import Lack, NoValue

pytestmark = pytest.mark.tf

FIT = """
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)
layers = [keras.layers.Input((4,)), keras.layers.Dense(8, "relu", name="hidden"), keras.layers.Dense(1)]
model = keras.Sequential(layers)
model.compile("adam", "mse")
x = np.random.default_rng(0).random((64, 4)).astype("float32")
model.fit(x, x.sum(axis=1), batch_size=4, epochs=EPOCHS, verbose=0, shuffle=False)
print("weights", np.concatenate([w.ravel() for w in model.get_weights()]).tobytes().hex())
"""

SESSION = """
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [2], name="x")
w = tf.Variable([1.0, 2.0], name="w")
y = tf.log(x * w, name="y")
with tf.control_dependencies([y]):
    step = w.assign_add([1.0, 1.0], name="step")
batch = np.zeros(2, np.float32)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for number in range(4):
        batch[:] = number
        session.run([y, step], {x: batch})
"""


def _launched(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(text)
    return python("-m", "tfdbg_cli", "run", *options, "train.py", folder=folder)


def _hidden() -> str:
    """The op of the hidden layer of `FIT` in a step."""
    return f"{scope()}{called_again('sequential')}/{called_again('hidden')}/Relu"


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A program that fits for an epoch, and what it prints without tfdbg."""
    folder, text = tmp_path_factory.mktemp("plain"), FIT.replace("EPOCHS", "1")
    (folder / "train.py").write_text(text)
    done = python("train.py", folder=folder)
    assert done.returncode == 0, done.stderr
    return text, done.stdout


def test_statistics_of_a_fit_leave_its_weights_as_they_are(fit: tuple[str, str], tmp_path: Path) -> None:
    text, plain = fit
    made = _launched(tmp_path, text, "--record", "runs", "--stats-only")
    assert made.returncode == 0, made.stderr
    assert made.stdout == plain
    runs = open_path(tmp_path / "runs").runs
    assert len(runs) == 16
    (row,) = runs[15].tensors.named(_hidden())
    summary = summary_of(runs[15].tensors, row)
    assert summary is not None and summary.size == 32 and summary.neg == 0 and summary.std
    assert isinstance(runs[15].tensors.value(row), NoValue)


def test_a_fit_is_recorded_and_trains_as_without(fit: tuple[str, str], tmp_path: Path) -> None:
    text, plain = fit
    made = _launched(tmp_path, text, "--record", "runs", "--every", "5")
    assert made.returncode == 0, made.stderr
    assert made.stdout == plain
    assert "tfdbg: 4 runs were recorded in" in made.stderr
    opened = open_path(tmp_path / "runs")
    assert [run.call.number for run in opened.runs] == [1, 6, 11, 16]
    run = opened.runs[2]
    assert run.call.kind is RunKind.FUNCTION and len(run.tensors) > 50
    row = next(iter(run.tensors.named(_hidden())))
    value = run.tensors.value(row)
    assert isinstance(value, np.ndarray) and value.shape == (4, 8)
    assert any(frame.file.endswith("train.py") for stack in run.tracebacks.values() for frame in stack)
    assert run.sources.lines(str(tmp_path / "train.py"))
    words = [sys.executable, "-c", _WITHOUT_TENSORFLOW, "open", str(tmp_path / "runs")]
    shown = subprocess.run([*words, "-c", "runs", "-c", "ps train.py"], capture_output=True, text=True, check=True)
    assert "run #16" in shown.stdout and "model.fit" in shown.stdout


_WITHOUT_TENSORFLOW = """
import sys
import textwrap
sys.modules["tensorflow"] = None
from tfdbg_cli.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_session_is_recorded_with_what_it_was_fed(tmp_path: Path) -> None:
    made = _launched(tmp_path, SESSION, "--record", "runs", "--only", "^y$")
    assert made.returncode == 0, made.stderr
    runs = open_path(tmp_path / "runs").runs
    steps = [run for run in runs if run.call.feeds]
    assert [run.call.feeds["x:0"].tolist() for run in steps] == [[n, n] for n in range(4)]
    for number, run in enumerate(steps):
        (row,) = run.tensors.named("y")
        with np.errstate(divide="ignore"):
            expected = np.log(np.float32(number) * np.array([1 + number, 2 + number], np.float32))
        np.testing.assert_allclose(np.asarray(run.tensors.value(row)), expected, rtol=1e-6)


WRAPPED = """
import threading
import tensorflow.compat.v1 as tf
import tfdbg_cli as tf_debug
tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [2], name="x")
y = tf.log(x, name="y")
watched = tf_debug.LocalCLIDebugWrapperSession(tf.Session())
dumped = tf_debug.DumpingDebugWrapperSession(tf.Session(), "dumps")
own = tf_debug.DumpingDebugWrapperSession(tf.Session(), "own", recording=True)
for number in range(2):
    for session in (watched, dumped, own):
        session.run(y, {x: [number, number]})
step = tf.train.get_or_create_global_step()
hooks = [tf_debug.LocalCLIDebugHook()]
with tf.train.MonitoredSession(hooks=hooks) as session:
    session.run(y, {x: [7, 7]})
print("counted", watched.run_call_count, dumped.run_call_count, own.run_call_count)
"""


def test_sessions_that_a_program_wraps_itself_are_recorded_too(tmp_path: Path) -> None:
    made = _launched(tmp_path, WRAPPED, "--record", "runs")
    assert made.returncode == 0, made.stderr
    assert made.stdout == "counted 2 2 2\n"
    runs = open_path(tmp_path / "runs").runs
    assert [run.call.feeds["x:0"][0] for run in runs] == [0, 0, 0, 1, 1, 1, 7]
    assert len({run.call.number for run in runs}) == 7
    for run in runs:
        (row,) = run.tensors.named("y")
        assert isinstance(run.tensors.value(row), np.ndarray)
    own = open_path(tmp_path / "own")
    assert [(run.call.number, run.call.feeds["x:0"][0]) for run in own.runs] == [(1, 0), (2, 1)]
    assert len(open_path(tmp_path / "dumps").runs) == 2


def test_a_dumping_session_writes_a_recording_of_what_its_function_names(tmp_path: Path) -> None:
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.log(tf.add(x, 1, name="more"), name="y")

        def watch_fn(fetches: Any, feeds: Any) -> Any:
            return tf_debug.WatchOptions(node_name_regex_allowlist="^more$")

        session = tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path / "s"), watch_fn, recording=True)
        assert session.run(y, {x: [0, 0]}).tolist() == [0, 0]
        session.run(y, {x: [1, 1]})
        assert session.run_call_count == 2
        session._tfdbg_controller._controller._taker.end()  # as at the end of the program
        runs = open_path(tmp_path / "s").runs
        assert [run.tensors.nodes() for run in runs] == [["more"], ["more"]]
        with pytest.raises(ValueError, match="non-empty"):
            tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path / "s"), recording=True)


@pytest.mark.parametrize("recording", [True, False], ids=["recorded", "dumped"])
def test_a_watch_fn_is_asked_in_the_threads_that_are_filtered_for_alone(tmp_path: Path, recording: bool) -> None:
    """A blind test: one that raised ended runs of other threads, which were not recorded."""
    import tensorflow.compat.v1 as tf

    asked: list[str] = []

    def watch_fn(fetches: Any, feeds: Any) -> Any:
        asked.append(threading.current_thread().name)
        return tf_debug.WatchOptions()

    with tf.Graph().as_default():
        y = tf.constant(1.0, name="y")
        root = str(tmp_path / "s")
        session = tf_debug.DumpingDebugWrapperSession(tf.Session(), root, watch_fn, "work", recording=recording)
        session.run(y)
        for name in ("worker", "other", "myworker"):
            thread = threading.Thread(target=session.run, args=(y,), name=name)
            thread.start()
            thread.join()
        if recording:
            session._tfdbg_controller._controller._taker.end()
    assert asked == ["worker"] and session.run_call_count == 4
    assert [run.call.thread for run in open_path(tmp_path / "s").runs] == ["worker"]


def test_a_killed_job_leaves_what_was_finished(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FIT.replace("EPOCHS", "100000"))
    process = begun("-m", "tfdbg_cli", "run", "--record", "runs", "train.py", folder=tmp_path)
    try:
        end = time.monotonic() + 200
        while _count(tmp_path / "runs") < 3:
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.1)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    runs = open_path(tmp_path / "runs").runs
    assert len(runs) >= 3
    for run in runs:
        values = [run.tensors.value(row) for row in range(len(run.tensors))]
        assert sum(isinstance(value, np.ndarray) for value in values) > 50
        assert not any(isinstance(value, NoValue) and value.lack is Lack.DAMAGED for value in values)


def _count(path: Path) -> int:
    try:
        return len(open_path(path).runs)
    except tf_debug.TfdbgError:
        return 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--record", "train.py"), "There is something at"),
        (("--record", "runs", "--every", "0"), "One run in 0 cannot be recorded"),
        (("--record", "runs", "--only", "("), "Cannot read the regex"),
        (("--record", "runs", "--budget", "much"), "'much' is no size"),
        (("--every", "3"), "A recording is described, and no path named"),
        (("--record", "runs", "--stats-only", "--only", "("), "Cannot read the regex"),
        (("--record", ""), "The path is empty"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_the_program(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    made = _launched(tmp_path, "print('ran')", *options)
    assert made.returncode == 1 and said in made.stderr and not made.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


def test_arguments_that_make_no_sense_are_refused_in_words(front: ScriptedFrontend, tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"every": "x"}, "every is 'x', and has to be a whole number"),
        ({"every": 1.5}, "every is 1.5"),
        ({"budget": 1.5}, "budget is 1.5"),
        ({"only": 3}, "only is 3, and has to be a text"),
        ({"every": 1, "worker": 3}, "worker is 3"),
        ({"every": 0}, "One run in 0"),
    ]
    for options, said in wrong:
        with pytest.raises(tf_debug.TfdbgError, match=said):
            tf_debug.record(tmp_path / "r", **options)
    for path, said in (("", "The path is empty"), ("a\0b", "No path can be called")):
        with pytest.raises(tf_debug.TfdbgError, match=said):
            tf_debug.record(path, every=1)
    assert list(tmp_path.iterdir()) == []


def test_a_single_run_that_has_not_come_is_not_recorded_after_stop_recording(
    front: ScriptedFrontend, tmp_path: Path
) -> None:
    import tensorflow as tf

    tf_debug.record(tmp_path / "case")
    tf_debug.stop_recording()
    tf.function(lambda x: tf.math.log(x))(tf.constant(1.0))
    assert not (tmp_path / "case").exists()


@pytest.mark.parametrize("how", ["function", "session"])
def test_runs_of_several_threads_are_recorded_from_their_first_on(tmp_path: Path, how: str) -> None:
    program = {
        "function": """
            @tf.function
            def square(x): return tf.square(x, name="sq")
            def call(n, i): assert float(square(tf.constant(float(10 * n + i)))) == (10 * n + i) ** 2
            """,
        "session": """
            v1 = tf.compat.v1
            v1.disable_eager_execution()
            x = v1.placeholder(tf.float32, (), name="x")
            y = tf.square(x, name="sq")
            session = v1.Session()
            def call(n, i): assert session.run(y, {x: 10 * n + i}) == (10 * n + i) ** 2
            """,
    }[how]
    threads = """
import threading
def several(n):
    for i in range(4): call(n, i)
threads = [threading.Thread(target=several, args=(n,)) for n in range(3)]
for one in threads: one.start()
for one in threads: one.join()
"""
    made = _launched(tmp_path, "import tensorflow as tf" + textwrap.dedent(program) + threads, "--record", "runs")
    assert "12 runs were recorded" in made.stderr, made.stderr
    recording = tf_debug.open_recording(tmp_path / "runs")
    found = sorted(float(recording.tensors(run=place)["sq:0"][...]) for place in range(12))
    assert found == sorted(float((10 * n + i) ** 2) for n in range(3) for i in range(4))


@pytest.mark.parametrize("options", [("--record", "runs"), ("-c", "run")])
def test_of_eager_code_without_a_run_it_is_said_why_there_is_none(tmp_path: Path, options: tuple[str, ...]) -> None:
    program = """
import tensorflow as tf
for i in range(5):
    square = tf.constant(float(i)) ** 2
print(float(square))
"""
    made = _launched(tmp_path, program, *options)
    assert made.stdout.endswith("16.0\n")
    assert made.stderr.count("5 ops ran eagerly, in no run") == 1 and "with tfdbg_cli.run():" in made.stderr


def test_from_python(front: ScriptedFrontend, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import tensorflow as tf

    @tf.function
    def step(x: Any) -> Any:
        return tf.math.log(x)

    tf_debug.record(tmp_path / "r", every=2)
    for value in range(5):
        step(np.float32(value))
    tf_debug.stop_recording()
    step(np.float32(9))
    assert front.stops == []
    runs = tf_debug.open_recording(tmp_path / "r").runs
    assert [float(np.asarray(run.tensors.value(run.tensors.named("Log")[0]))) for run in runs] == [
        -np.inf, pytest.approx(np.log(2)), pytest.approx(np.log(4)),
    ]  # fmt: skip
    said = capfd.readouterr().err
    assert re.search(r"One run in 2 is recorded in .*/r, which may take", said) and "3 runs were recorded" in said


def test_eager_code_is_recorded_turn_by_turn(front: ScriptedFrontend, tmp_path: Path) -> None:
    import tensorflow as tf

    total = tf.Variable(1.0)
    tf_debug.record(tmp_path / "r", every=1)
    for number in range(3):
        with tf_debug.run("a step"):
            total.assign_add(tf.math.sqrt(tf.constant(float(number))))
    tf_debug.stop_recording()
    runs = tf_debug.open_recording(tmp_path / "r").runs
    assert [run.call.kind for run in runs] == [RunKind.EAGER] * 3
    roots = [np.asarray(run.tensors.value(run.tensors.named("Sqrt_0")[0])).item() for run in runs]
    assert roots == [0, 1, pytest.approx(2**0.5)]


def test_turns_of_an_eager_loop_are_all_there_when_a_recording_ends(front: ScriptedFrontend, tmp_path: Path) -> None:
    import tensorflow as tf

    weight, data = tf.Variable([1.0, 2.0]), tf.data.Dataset.range(3)

    def train_step(number: Any) -> None:
        weight.assign_sub(0.1 * weight * tf.cast(number, tf.float32))

    with tf_debug.record(tmp_path / "r", every=1):
        for _epoch in range(2):
            for number in data:
                train_step(number)
    train_step(tf.constant(5))
    recording = tf_debug.open_recording(tmp_path / "r")
    assert [run.call.function.split(" of ")[0] for run in recording.runs] == [f"turn {n}" for n in range(1, 7)]
    assert len({run.call.same for run in recording.runs}) == 1, "turns of one loop are compared"
    assert len({tuple(run.graph.names()) for run in recording.runs}) == 1, "the first turn has what the others have"
    last = recording.runs[-1].tensors
    assert np.array_equal(last.value(last.named("weight/after_update")[0]), weight.numpy() / np.float32(0.5))
