"""Checkpoints that TensorFlow wrote, against TensorFlow's own reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


def _values(run: Run) -> dict[str, Array]:
    found = {}
    for at in range(len(run.tensors)):
        value = run.tensors.value(at)
        assert isinstance(value, np.ndarray), value
        node = run.graph.node(run.tensors[at].node)
        found[node.attributes.get("checkpoint_key", node.name)] = value
    return found


def _same(tf: Any, path: Path, run: Run) -> None:
    reader = tf.train.load_checkpoint(str(path))
    ours = _values(run)
    assert set(ours) == set(reader.get_variable_to_shape_map()) - {"_CHECKPOINTABLE_OBJECT_GRAPH"}
    for key, value in ours.items():
        np.testing.assert_array_equal(value, reader.get_tensor(key))
    assert not examined(path).troubles


def test_variables_of_every_kind(tf: Any, tmp_path: Path) -> None:
    dtypes = (tf.float32, tf.float16, tf.bfloat16, tf.int8, tf.uint64, tf.bool, tf.complex64)
    held = [tf.Variable(tf.cast(tf.constant([[1, 0], [3, 4]]), dtype)) for dtype in dtypes]
    module = tf.Module()
    module.held, module.text = held, tf.Variable([["a", "bc"], ["", "d\0e"]])
    module.empty, module.many = tf.Variable(tf.zeros([0, 3])), [tf.Variable(float(i)) for i in range(200)]
    path = Path(tf.train.Checkpoint(model=module).write(str(tmp_path / "all")))
    (run,) = open_path(path).runs
    _same(tf, path, run)


def test_a_partitioned_variable_of_a_session(tf: Any, tmp_path: Path) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        split = v1.fixed_size_partitioner(3, axis=0)
        v1.get_variable("wide", [300, 2], partitioner=split, initializer=v1.random_normal_initializer())
        v1.get_variable("plain", [2])
        session.run(v1.global_variables_initializer())
        path = Path(v1.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=3))
    (run,) = open_path(path).runs
    assert run.tensors[1].shape == (300, 2)
    _same(tf, path, run)


def test_what_the_objects_call_the_variables(tf: Any, tmp_path: Path) -> None:
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(2, name="first")])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    path = Path(tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(str(tmp_path / "fit")))
    (run,) = open_path(path).runs
    called = {node.attributes.get("full_name") for node in run.graph}
    assert {variable.path for variable in model.trainable_variables} <= called
    _same(tf, path, run)


def test_the_variables_of_a_saved_model_stand_behind_its_graphs(tf: Any, tmp_path: Path) -> None:
    module = tf.Module()
    module.w = tf.Variable([1.0, 2.0])
    tf.saved_model.save(module, str(tmp_path))
    opened = open_path(tmp_path)
    assert opened.runs[-1].call.title == "checkpoint variables"
    np.testing.assert_array_equal(opened.runs[-1].tensors.value(0), [1.0, 2.0])


@pytest.mark.parametrize("sharded", [False, True])
def test_a_checkpoint_of_the_first_format_is_told_by_its_content(tf: Any, tmp_path: Path, sharded: bool) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("w", [3])
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(write_version=v1.train.SaverDef.V1, sharded=sharded)
        prefix = Path(saver.save(session, str(tmp_path / "old"), write_meta_graph=False).partition("-?")[0])
    for path in (prefix, tmp_path):
        with pytest.raises(TfdbgError, match=r"/old is a checkpoint of TensorFlow's first format \(V1\)"):
            open_path(path)
