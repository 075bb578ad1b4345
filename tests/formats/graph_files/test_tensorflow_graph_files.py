"""Files that TensorFlow wrote, against what TensorFlow says of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from support.launched import python
from support.prompt import Prompt

from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Opened, Run

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def module(tf: Any) -> Any:
    class Scores(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(tf.ones([3, 4]), name="w")

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
        def score(self, x: Any) -> Any:
            low, high = tf.split(tf.nn.relu(x @ self.w), 2, axis=1)
            values, places = tf.math.top_k(high, 2)
            total = tf.constant(0.0)
            for _ in tf.range(3):
                total = total + tf.reduce_sum(values)
            return {"score": tf.math.log(low) + total, "places": places}

    return Scores()


def _edges(run: Run) -> dict[str, tuple[str, list[str]]]:
    return {node.name: (node.op_type, [str(name) for name in node.inputs]) for node in run.graph}


def _expected(graph: Any) -> dict[str, tuple[str, list[str]]]:
    return {op.name: (op.type, [tensor.name for tensor in op.inputs]) for op in graph.get_operations()}


def test_functions_of_a_saved_model_read_what_they_read_in_tensorflow(tf: Any, module: Any, tmp_path: Path) -> None:
    tf.saved_model.save(module, str(tmp_path))
    opened = open_path(tmp_path)
    assert not examined(tmp_path).troubles
    (run,) = [run for run in opened.runs if run.call.title.endswith("(score)")]
    expected = _expected(module.score.get_concrete_function().graph)
    computed = {name: inputs for name, (op, inputs) in _edges(run).items() if op != "Placeholder"}
    assert set(computed) == {name for name, (op, _) in expected.items() if op != "Placeholder"}
    for name, inputs in computed.items():
        for ours, theirs in zip(inputs, expected[name][1], strict=True):
            given = expected[theirs.partition(":")[0]][0] == "Placeholder"  # arguments have names of their own
            assert given or ours == theirs
    assert "Signature serving_default: x = serving_default_x:0 float32[?,3] →" in " ".join(opened.runs[0].notes)


def test_variables_of_a_saved_model_have_the_values_beside_it(tf: Any, module: Any, tmp_path: Path) -> None:
    tf.saved_model.save(module, str(tmp_path))
    (found,) = Prompt(open_path(tmp_path)).data("lv --stats ^w$")["variables"]
    assert (found["value_of"], found["summary"]["min"], found["summary"]["size"]) == ("saved", 1.0, 12)
    data = tmp_path / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(b"")
    (found,) = Prompt(open_path(tmp_path)).data("lv --stats ^w$")["variables"]
    assert found["summary"] is None
    (tmp_path / "variables" / "variables.index").unlink()
    assert Prompt(open_path(tmp_path)).data("lv --stats ^w$")["variables"][0]["value_of"] is None


def test_a_model_of_keras_that_was_exported_and_its_checkpoint(tf: Any, tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="out")])
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    model.export(str(tmp_path / "model"), verbose=False)
    exported = Prompt(open_path(tmp_path / "model"))
    assert exported.data("lv")["near_duplicates"] == [], "what TensorFlow makes when it saves is not made twice"
    (kernel,) = exported.data("lv --stats kernel$")["variables"]
    assert kernel["value_of"] == "saved" and kernel["summary"]["size"] == 6
    path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(str(tmp_path / "c"))
    saved = Prompt(open_path(path))
    rows = {row["full_name"]: row for row in saved.data("lv")["variables"]}
    names = [name for name in rows if name and name.endswith("out_kernel_momentum")]
    assert [rows[name]["slot_of"] for name in names] == [rows[_kernel(rows)]["name"]]
    shown = saved.show("lv")
    assert "Called" in shown and "/out/kernel" in shown, "as the program calls it"


def _kernel(rows: dict[str, Any]) -> str:
    return next(name for name in rows if name and name.endswith("out/kernel"))


def test_a_graph_in_both_forms_is_the_graph_of_tensorflow(tf: Any, module: Any, tmp_path: Path) -> None:
    graph = module.score.get_concrete_function().graph
    definition = graph.as_graph_def()
    (tmp_path / "graph.pb").write_bytes(definition.SerializeToString())
    tf.io.write_graph(definition, str(tmp_path), "graph.pbtxt")
    binary, text = open_path(tmp_path / "graph.pb"), open_path(tmp_path / "graph.pbtxt")
    assert _edges(binary.runs[0]) == _expected(graph)
    assert not examined(tmp_path / "graph.pb").troubles and not examined(tmp_path / "graph.pbtxt").troubles
    for ours, theirs in zip(binary.runs, text.runs, strict=True):
        assert _edges(ours) == _edges(theirs)
        for node in ours.graph:
            assert dict(node.attributes) == dict(theirs.graph.node(node.name).attributes)


def _session_files(tf: Any, folder: Path) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        w = v1.get_variable("dense/kernel", [3, 2])
        loss = tf.reduce_mean(tf.math.log(tf.nn.softmax(x @ w)), name="loss")
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            metadata = v1.RunMetadata()
            options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, output_partition_graphs=True)
            session.run(loss, {x: [[1, 2, 3]]}, options=options, run_metadata=metadata)
            (folder / "run_metadata").write_bytes(metadata.SerializeToString())
            saver.save(session, str(folder / "model.ckpt"))


def test_what_a_session_writes(tf: Any, tmp_path: Path) -> None:
    _session_files(tf, tmp_path)
    meta = open_path(tmp_path / "model.ckpt.meta")
    assert not any(examined(tmp_path / name).troubles for name in ("model.ckpt.meta", "run_metadata"))
    assert {"x", "dense/kernel", "loss"} <= set(meta.runs[0].graph.names())
    metadata: Opened = open_path(tmp_path / "run_metadata")
    prompt = Prompt(metadata)
    assert prompt.data("lp")["devices"][0]["device"].endswith("CPU:0")
    assert len(metadata.runs[0].graph) and metadata.runs[0].graph.kind == "runtime graph"


_OPTIMIZED = """
import pathlib, sys
import tensorflow as tf
from tensorflow.python.eager import context

@tf.function
def step(x):
    return tf.math.log(x * 1.0) * tf.constant(2.0) * tf.constant(3.0)

given = tf.ones([3])
context.enable_run_metadata()
step(given)
pathlib.Path(sys.argv[1]).write_bytes(context.export_run_metadata().SerializeToString())
"""


def test_graphs_of_functions_before_and_after_their_optimization(tmp_path: Path) -> None:
    """In a process of its own: TensorFlow tells of every function that any thread runs meanwhile."""
    path = tmp_path / "metadata"
    done = python("-c", _OPTIMIZED, path)
    assert done.returncode == 0, done.stderr
    assert not examined(path).troubles
    before, after = (run.graph for run in open_path(path).runs[1:3])
    assert len(after) < len(before) and "Log" in {node.op_type for node in after}


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda variables: shutil.rmtree(variables), "variables.index is missing"),
        (lambda variables: (variables / "variables.index").unlink(), "variables.index is missing"),
        (lambda variables: (variables / "variables.index").write_bytes(b""), "variables.index"),
        (lambda variables: _cut(variables / "variables.data-00000-of-00001"), "variables.index: "),
    ],
)
def test_doctor_looks_at_the_variables_of_a_saved_model(tmp_path: Path, spoil: Any, said: str) -> None:
    import tensorflow as tf

    module = tf.Module()
    module.w = tf.Variable(tf.ones([64, 64]))
    module.f = tf.function(lambda x: x @ module.w, [tf.TensorSpec([None, 64])])
    tf.saved_model.save(module, str(tmp_path))
    whole = examined(tmp_path)
    assert not whole.troubles and any("variable" in fact and "16,384" in fact for fact in whole.facts)
    spoil(tmp_path / "variables")
    assert any(said in trouble for trouble, _ in examined(tmp_path).troubles)
