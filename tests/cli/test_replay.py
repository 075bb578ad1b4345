"""`tfdbg replay` on bundles that real programs wrote: in another process, in another folder."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import one_dnn
from support.keras_steps import is_given_batches, part_name, scope
from support.launched import python

from tfdbg_cli.cli.replay import STEPPER, replayed, steps_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.reader import Bundle, read_bundle
from tfdbg_cli.formats.bundles.saving import save_bundle
from tfdbg_cli.formats.bundles.writer import write_bundle
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue

pytest.importorskip("tensorflow")
from tfdbg_cli.model.exactness import same_bits

pytestmark = pytest.mark.tf

FIT = """\
import keras
import numpy as np

keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
x[40, 2] = np.inf
model = keras.Sequential([
    keras.Input((8,)), keras.layers.Dense(16, "tanh"), keras.layers.Dropout(0.3),
    keras.layers.BatchNormalization(), keras.layers.Dense(1),
])
model.compile(keras.optimizers.Adam(0.01), "mse")
model.fit(x, x[:, :1] * 0, batch_size=16, epochs=1, shuffle=True, verbose=0)
"""

LOOP = """\
import tensorflow as tf

w = tf.Variable([[1.0, 2.0]], name="w")
generator = tf.random.Generator.from_seed(3)

@tf.function
def inner(x):
    return tf.math.log(tf.nn.relu(x))

@tf.function
def step(x, scale):
    with tf.GradientTape() as tape:
        logs = inner(x @ tf.transpose(w) * scale)
        for i in tf.range(2):
            logs += generator.uniform([2, 1])
        loss = tf.reduce_mean(logs)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss

for i in range(4):
    step(tf.constant([[1.0, 2.0], [3.0 - 2 * i, 0.5]]), tf.constant(2.0))
"""

SESSION = """\
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()
data = tf.data.Dataset.from_tensor_slices(np.arange(12, dtype=np.float32).reshape(6, 2)).batch(2)
batch = v1.data.make_one_shot_iterator(data).get_next()
keep = v1.placeholder(tf.float32, [], name="keep")
old = v1.get_variable("old", initializer=[[1.0], [2.0]], use_resource=False)
new = v1.get_variable("new", initializer=[[1.0], [-1.0]], use_resource=True)
noise = tf.random.uniform([2, 1], name="noise")
h = tf.matmul(batch, old) * (keep - 4.0) + tf.matmul(batch, new) * noise
loss = tf.reduce_mean(tf.math.log(tf.nn.relu(h), name="log"), name="loss")
train = v1.train.MomentumOptimizer(0.01, 0.9).minimize(loss, name="train")
with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    for i in range(3):
        session.run([loss, train], {keep: 5.0 - i})
"""

PROGRAMS = {"fit": FIT, "loop": LOOP, "session": SESSION}
EXPECTED = {"fit": part_name(0), "loop": "inner/Log:0", "session": "log:0"}


def recorded_bad(name: str, path: Path) -> str:
    """The first bad tensor of the recording at `path`; what ran before the step is not in what is made again.

    So is the op that gave a step its batch, eagerly; which batch is the bad one is up to the shuffling.
    """
    if name != "fit" or not is_given_batches():
        return EXPECTED[name]
    return f"eager/OptionalGetValue_{read_bundle(path).run.call.number - 1}:0"


@pytest.fixture(scope="module", params=PROGRAMS)
def made(request: Any, tmp_path_factory: Any) -> tuple[str, Path]:
    """The name of a program, and the bundle that it left; the program itself is gone."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "program.py").write_text(PROGRAMS[request.param])
    path = tmp_path_factory.mktemp("bundles") / request.param
    commands = ("-c", f"run -f has_inf_or_nan --bundle {path}", "-c", "origin")
    done = python("-m", "tfdbg_cli", "run", *commands, "program.py", folder=folder)
    assert done.returncode == 0, done.stderr
    assert path.is_dir(), done.stdout + done.stderr
    (folder / "program.py").unlink()
    return request.param, path


def test_the_same_tensor_goes_wrong_first_bit_for_bit(made: tuple[str, Path], tmp_path: Path) -> None:
    name, path = made
    bad = read_bundle(path).first_bad
    assert bad is not None
    assert str(bad.name) == recorded_bad(name, path)
    done = python("-m", "tfdbg_cli", "replay", str(path), "--json", "-c", "origin", "-c", "ri", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = f"{EXPECTED[name]} ({bad.op_type})"
    if str(bad.name) != EXPECTED[name]:
        said = f"{bad.name}, the first that was not finite, ran before this call, and is shown as it was"
        said += " recorded. Of the rest: "
        said += f"{EXPECTED[name]} (Placeholder)"
    assert f"{said} is the origin, as it was, bit for bit." in done.stderr
    origin, info = map(json.loads, done.stdout.splitlines())
    assert origin["tensor"] == recorded_bad(name, path)
    assert Path(origin["file"]).name == "program.py"
    notes = [note for note in info["notes"] if "not the same to the last bit" in note]
    assert not notes, notes


_WITHOUT_US = "import runpy, sys; sys.modules['tfdbg_cli'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"


def test_the_script_needs_tensorflow_alone(made: tuple[str, Path], tmp_path: Path) -> None:
    name, path = made
    _check_script(name, python("-c", _WITHOUT_US, str(path / "repetition" / "replay.py"), folder=tmp_path))


@pytest.mark.slow
def test_the_script_runs_in_an_interpreter_that_has_no_path_to_us(made: tuple[str, Path], tmp_path: Path) -> None:
    """Each takes seconds to begin; above they only cannot import us."""
    name, path = made
    _check_script(name, python("-I", str(path / "repetition" / "replay.py"), folder=tmp_path))


def _check_script(name: str, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    batch = "given data" if is_given_batches() else "source IteratorGetNext:0"
    found = {"fit": f"{batch} before the run: 1 of", "loop": "run:0: 1 of 1", "session": "log:0: "}
    assert found[name] in done.stdout
    assert "not finite" in done.stdout


def test_it_opens_without_tensorflow(made: tuple[str, Path], tmp_path: Path) -> None:
    name, path = made
    (tmp_path / "tensorflow.py").write_text("raise ImportError('TensorFlow was loaded')")
    command = "import sys; from tfdbg_cli.cli.main import main; sys.path.insert(0, '.'); sys.exit(main(sys.argv[1:]))"
    done = python("-c", command, "open", str(path), "-c", "origin", "-c", "ps program.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert recorded_bad(name, path) in done.stdout
    assert "TensorFlow was loaded" not in done.stderr
    done = python("-c", command, "replay", str(path), "-c", "origin", folder=tmp_path)
    assert done.returncode == 2
    assert "TensorFlow, which cannot be loaded" in done.stderr
    assert f"tfdbg open {path}" in done.stderr


def changed(bundle: Bundle, name: str, value: Any) -> Bundle:
    """`bundle` with another value of an input."""
    inputs = tuple(replace(item, value=value) if item.name == name else item for item in bundle.replay_spec.inputs)
    assert any(item.name == name for item in inputs)
    return replace(bundle, replay_spec=replace(bundle.replay_spec, inputs=inputs))


def test_a_run_that_does_not_come_out_as_it_was_says_so(made: tuple[str, Path], monkeypatch: Any) -> None:
    name, path = made
    bundle = read_bundle(path)
    whole = replayed(str(path))
    assert whole.same
    recorded = bundle.run.tensors
    before = [row for row in range(len(recorded)) if recorded[row].node.startswith("eager/")]
    assert len(whole.stop.runs[0].tensors) == len(recorded)
    assert bool(before) == (recorded_bad(name, path) != EXPECTED[name])
    batch = "data" if is_given_batches() else "IteratorGetNext:0"
    source = {"fit": batch, "loop": "x", "session": "keep:0"}[name]
    shape = next(item.value.shape for item in bundle.replay_spec.inputs if item.name == source)
    other = changed(bundle, source, np.full(shape, 5, np.float32))
    monkeypatch.setattr("tfdbg_cli.cli.replay.read_bundle", lambda place: other)
    again = replayed(str(path))
    assert not again.same
    assert f"{EXPECTED[name]} is finite now, and was the origin" in again.said
    assert any("not the same to the last bit" in note for note in again.stop.runs[0].notes)
    nan = changed(bundle, source, np.full(shape, np.nan, np.float32))
    monkeypatch.setattr("tfdbg_cli.cli.replay.read_bundle", lambda place: nan)
    assert not replayed(str(path)).same


def test_a_bundle_that_does_not_fit_together_is_an_error_of_ours(made: tuple[str, Path], monkeypatch: Any) -> None:
    _, path = made
    bundle = read_bundle(path)
    whole = bundle.replay_spec
    first = whole.inputs[0]
    others = [
        replace(whole, entry="missing", fetches=("missing:0",)),
        replace(whole, graph=whole.graph[: len(whole.graph) // 2]),
        replace(whole, graph=b""),
        replace(whole, inputs=whole.inputs[1:]),
        replace(whole, inputs=(replace(first, name="nowhere:7", node="nowhere"), *whole.inputs[1:])),
        replace(whole, inputs=(replace(first, dtype="string", value=np.array([b"x"], object)), *whole.inputs[1:])),
        replace(whole, inputs=(replace(first, value=np.zeros([3, 1, 4, 1], first.value.dtype)), *whole.inputs[1:])),
        replace(whole, details={name: "{[" for name in whole.details}),
    ]
    for number, other in enumerate(others):
        unfit = replace(bundle, replay_spec=other)
        monkeypatch.setattr("tfdbg_cli.cli.replay.read_bundle", lambda place, unfit=unfit: unfit)
        with suppress(TfdbgError):
            assert not replayed(str(path)).same or number == 4  # the name of an argument says nothing to TensorFlow


def test_what_if_on_a_replay(made: tuple[str, Path]) -> None:
    name, path = made
    run = replayed(str(path)).stop.runs[0]
    source = {"fit": EXPECTED["fit"], "loop": "x:0", "session": "keep:0"}[name]
    tensor = parse_tensor_name(source)
    assert tensor is not None
    (index,) = run.tensors.named(tensor.node, tensor.slot)
    value = run.tensors.value(index)
    assert not isinstance(value, NoValue)
    assert run.what_if is not None
    again = run.what_if.again(run, {tensor: np.full_like(value, 5)})
    wrong = parse_tensor_name(EXPECTED[name])
    assert wrong is not None
    for shown, finite in ((run, False), (again, True)):
        (index,) = shown.tensors.named(wrong.node, wrong.slot)
        assert bool(np.isfinite(shown.tensors.value(index)).all()) == finite


def test_op_by_op(made: tuple[str, Path], tmp_path: Path) -> None:
    name, path = made
    loss = {"fit": f"{scope()}compile_loss/mse/Mean", "loop": "Mean", "session": "loss"}[name]
    opened = steps_of(str(path))
    assert opened.opening == STEPPER
    run_then = opened.runs[0]
    assert run_then.steppable is not None
    stepper = run_then.steppable.stepper()
    assert stepper.next == 0
    stepper.cont(loss)
    (index,), (then,) = stepper.tensors.named(loss, 0), run_then.tensors.named(loss, 0)
    shown, ran = stepper.tensors.value(index), run_then.tensors.value(then)
    if one_dnn.ON and name == "fit":
        # Op by op no layer is one op of oneDNN, which rounds otherwise than its parts do.
        assert not isinstance(shown, NoValue)
        assert not isinstance(ran, NoValue)
        np.testing.assert_allclose(shown, ran, rtol=1e-3)
    else:
        assert same_bits(shown, ran)
    stepper.close()
    if name == "session":
        commands = ("-c", "step", "-c", f"cont {loss}")
        done = python("-m", "tfdbg_cli", "replay", path, "--eager", *commands, folder=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "tfdbg> invoke_stepper" in done.stdout
        assert "-inf" in done.stdout


def test_a_replay_can_be_saved_again_but_not_undone(made: tuple[str, Path], tmp_path: Path) -> None:
    _, path = made
    run = replayed(str(path)).stop.runs[0]
    save_bundle(run, tmp_path / "copy")
    first, second = read_bundle(path).first_bad, read_bundle(tmp_path / "copy").first_bad
    assert first is not None
    assert second is not None
    assert first == second
    assert run.replayable is not None
    with pytest.raises(TfdbgError, match="nothing to put back"):
        run.replayable.undo()


def test_values_that_are_damaged_are_told_since_nothing_compares_them(made: tuple[str, Path], tmp_path: Path) -> None:
    _, path = made
    shutil.copytree(path, tmp_path / "copy")
    whole = replayed(str(tmp_path / "copy"))
    files = [one for one in (tmp_path / "copy").rglob("*_0_DebugIdentity_*") if one.stat().st_size > 40]
    files[0].write_bytes(files[0].read_bytes()[:-20])
    files[1].unlink()
    damaged = replayed(str(tmp_path / "copy"))
    (told,) = set(damaged.stop.runs[0].notes) - set(whole.stop.runs[0].notes)
    assert told.startswith("2 recorded values are damaged, and whether they come out the same is not known: first ")


def test_a_call_of_which_the_description_is_damaged_is_told(tmp_path: Path) -> None:
    """A blind test: the function was called a `Session.run`, without a word."""
    import tensorflow as tf

    path = _bundle_of_function(tmp_path, tf.function(tf.math.log), tf.constant([1.0, 0.0]))
    case = path / "_tfdbg_cli" / "case.json"
    case.write_bytes(case.read_bytes()[:100])
    made = replayed(str(path))
    (run,) = made.stop.runs
    assert (run.call.kind, run.call.what) == (RunKind.FUNCTION, "a function whose name is lost")
    assert "What was recorded of the call is damaged" in made.said and made.said.startswith(run.notes[0])


def _bundle_of(tmp_path: Path, build: Any) -> Path:
    """A bundle whose run is what `build` puts into a graph: it gives what is fetched."""
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        fetched = build(tf)
    definition = graph.as_graph_def().SerializeToString()
    replay_spec = ReplaySpec(RunKind.SESSION, definition, "", (fetched.name,), ())
    run = Run(Call(1, RunKind.SESSION, (fetched.name,)))
    write_bundle(run, replay_spec, tmp_path / "bundle")
    return tmp_path / "bundle"


def _bundle_of_function(tmp_path: Path, function: Any, *arguments: Any) -> Path:
    """A bundle of a call of a tf.function, which is not made."""
    from tfdbg_cli.capture.runs.function.traced_function import traced_function
    from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
    from tfdbg_cli.capture.tf import compat

    concrete = function.get_concrete_function(*arguments)
    traced = traced_function(compat.atomic_of(concrete))
    replay_spec = CallSnapshot.of(traced.snapshot_plan, [*arguments, *concrete.captured_inputs]).replay_spec()
    write_bundle(Run(Call(1, RunKind.FUNCTION, ())), replay_spec, tmp_path / "bundle")
    return tmp_path / "bundle"


_BUNDLE_REPLAYED = "from tfdbg_cli.cli.main import main; main(sys.argv[1:])"
_SCRIPT_RUN = "import runpy; runpy.run_path(sys.argv[1], run_name='__main__')"


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (_BUNDLE_REPLAYED, ("replay", "bundle")),
        (_BUNDLE_REPLAYED, ("replay", "--eager", "bundle")),
        (_SCRIPT_RUN, ("bundle/repetition/replay.py",)),
    ],
)
def test_tensorflow_is_loaded_with_the_variables_of_the_environment_that_it_had(
    way: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    _bundle_of(tmp_path, lambda tf: tf.constant(1.0))
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE")
    told = "'loaded with', os.environ.get('NVIDIA_TF32_OVERRIDE')"
    (tmp_path / "tensorflow.py").write_text(f"import os; raise ImportError(' '.join(map(str, ({told}))))")
    done = python("-c", f"import sys; sys.path.insert(0, '.'); {way}", *words, folder=tmp_path, anew=True)
    assert "loaded with 0" in done.stderr, done.stderr


def test_what_writes_a_file_is_refused_unless_it_is_trusted(tmp_path: Path) -> None:
    target = tmp_path / "written"
    path = _bundle_of(tmp_path, lambda tf: tf.io.write_file(str(target), "x"))
    for words in (["replay", str(path)], ["replay", "--eager", str(path)]):
        done = python("-m", "tfdbg_cli", *words, "-c", "lt", folder=tmp_path)
        assert done.returncode == 1
        assert "has ops that may reach files, the network, Python or other processes: WriteFile" in done.stderr
        assert "tfdbg replay --trust" in done.stderr
        assert not target.exists()
    python("-m", "tfdbg_cli", "replay", "--trust", str(path), "-c", "lt", folder=tmp_path)
    assert target.read_text() == "x"


def test_what_is_larger_than_the_memory_is_refused(tmp_path: Path) -> None:
    path = _bundle_of(tmp_path, lambda tf: tf.fill([1 << 32], 1.0))
    for again in (replayed, steps_of):
        with pytest.raises(TfdbgError, match=r"Fill:0 of 16 GB|fill:0 of 16 GB"):
            again(str(path))


@pytest.mark.parametrize("where", ["function", "called", "branch", "loop", "variable"])
def test_what_is_larger_than_the_memory_is_refused_in_a_function(tmp_path: Path, where: str) -> None:
    import tensorflow as tf

    variable = tf.Variable(tf.zeros([1 << 12]))

    def large(x: Any) -> Any:
        return tf.reduce_sum(tf.fill([1 << 32], x))

    def pairs(x: Any) -> Any:
        # Its shape is known from that of the variable alone: 2^12 · 2^12 · 2^10 floats of 4 bytes.
        return x + tf.reduce_sum(variable[:, None, None] * variable[:, None] * tf.ones([1 << 10]))

    build = {
        "function": large,
        "called": lambda x: tf.function(large)(x) + 1.0,
        "branch": lambda x: tf.cond(x > 0.0, lambda: large(x), lambda: x),
        "loop": lambda x: tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, large(y)), (0, x))[1],
        "variable": lambda x: tf.function(pairs)(x),
    }[where]
    path = _bundle_of_function(tmp_path, tf.function(build), tf.constant(-1.0))
    for again in (replayed, steps_of):
        with pytest.raises(TfdbgError, match=r"The run makes .*(Fill|fill|mul_1):0 of (16|64) GB"):
            again(str(path))


def test_what_fits_is_not_refused_in_a_function(tmp_path: Path) -> None:
    import tensorflow as tf

    variable = tf.Variable([1.0, 2.0])

    def step(x: Any) -> Any:
        for _ in tf.range(2):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            x = tf.concat([x, variable[: tf.size(x)]], 0)  # its shape is another at each turn
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.function(tf.math.log)(x), lambda: x)

    path = _bundle_of_function(tmp_path, tf.function(step), tf.constant([3.0]))
    assert replayed(str(path)).stop.runs[0].error is None
    assert steps_of(str(path)).opening == STEPPER


def test_what_ran_eagerly_before_a_call_is_shown_as_it_was_recorded(tmp_path: Path) -> None:
    text = """
import tensorflow as tf

step = tf.function(lambda x: tf.reduce_sum(x * 2.0))
for rows in ([1.0, 2.0], [3.0, 0.0]):
    step(tf.math.log(tf.constant(rows)) + 1.0)
"""
    (tmp_path / "program.py").write_text(text)
    commands = ("--until", "bad_result", "-c", "origin", "-c", "bundle case")
    done = python("-m", "tfdbg_cli", "run", "--json", *commands, "program.py", folder=tmp_path)
    live = json.loads(done.stdout.splitlines()[0])
    asked = ("-c", "origin", "-c", "ri", "-c", "pt eager/AddV2_0", "-c", "set eager/AddV2_0:0 0 * x")
    done = python("-m", "tfdbg_cli", "replay", "case", "--json", *asked, folder=tmp_path)
    origin, info, value, *refused = map(json.loads, done.stdout.splitlines())
    assert origin == live
    assert (origin["op_type"], origin["line"]) == ("Log", 6)
    assert "eager/Log_0:0, the first that was not finite, ran before this call, and is shown as it was" in done.stderr
    assert any("ran before this call" in note for note in info["notes"])
    assert value["name"] == "eager/AddV2_0:0"
    assert "which was given it as x" in str(refused) + done.stderr
