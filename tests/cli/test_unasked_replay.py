"""What `tfdbg replay` runs of a bundle without `--trust`: nothing that reaches outside, by whatever way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.cli.replay import replayed, steps_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.writer import write_bundle
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.runs import Run

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tf

AGAIN = pytest.mark.parametrize("again", [replayed, steps_of])


def _bundle(folder: Path, graph: Any, fetch: str, drawn: str) -> str:
    """A bundle of a session's run that fetched `fetch`, of which an op drew two numbers."""
    inputs = (ReplayInput(drawn, InputRole.SOURCE, "float32", np.ones(2, np.float32)),)
    spec = ReplaySpec(RunKind.SESSION, graph.as_graph_def().SerializeToString(), fetches=(fetch,), inputs=inputs)
    write_bundle(Run(Call(1, RunKind.SESSION, (fetch,))), spec, folder / "bundle")
    return str(folder / "bundle")


def test_a_function_of_a_data_set_that_something_waits_for(tmp_path: Path) -> None:
    """A blind test: what was read by an op that drew something waits for it, and the file was written."""
    target = tmp_path / "written"

    def writes(so_far: Any, one: Any) -> Any:
        with tf.control_dependencies([tf.io.write_file(str(target), "x")]):
            return so_far + one

    with tf.Graph().as_default() as graph:
        total = tf.data.Dataset.range(2).reduce(tf.constant(0, tf.int64), writes)
        with tf.control_dependencies([total.op]):
            shape = tf.identity([2])
        drawn = tf.raw_ops.RandomUniform(shape=shape, dtype=tf.float32)
        tf.identity(drawn, "y")
    path = _bundle(tmp_path, graph, "y:0", drawn.name)
    with pytest.raises(TfdbgError, match=r"may reach files.*ReduceDataset.*WriteFile"):
        replayed(path)
    assert not target.exists()
    replayed(path, trust=True)
    assert target.read_text() == "x"


def test_a_function_that_the_optimizer_calls_in_the_place_of_another(tmp_path: Path) -> None:
    """A blind test: nothing in the graph names it, so nobody looked at it, and the file was written."""
    target = tmp_path / "written"

    def made(device: str, work: Callable[[Any], Any]) -> Any:
        attributes = {"api_implements": "logarithm", "api_preferred_device": device}
        signature = [tf.TensorSpec([2])]
        return tf.function(work, input_signature=signature, experimental_attributes=attributes)

    def writes(x: Any) -> Any:
        with tf.control_dependencies([tf.io.write_file(str(target), "x")]):
            return tf.math.log(x)

    with tf.Graph().as_default() as graph:
        drawn = tf.raw_ops.RandomUniform(shape=[2], dtype=tf.float32)
        made("CPU", writes).get_concrete_function().add_to_graph(graph)
        with tf.device("/job:localhost/replica:0/task:0/device:CPU:0"):
            tf.identity(made("GPU", tf.math.log)(tf.exp(tf.sin(drawn))), "y")
    path = _bundle(tmp_path, graph, "y:0", drawn.name)
    with pytest.raises(TfdbgError, match=r"may reach files.*: WriteFile"):
        replayed(path)
    assert not target.exists()
    replayed(path, trust=True)
    assert target.read_text() == "x"


@AGAIN
def test_what_is_computed_while_the_graph_is_read(tmp_path: Path, again: Callable[..., Any]) -> None:
    """A blind test: nobody fetches these ops, so nobody looked at them; TensorFlow wrote the folder."""
    folder = tmp_path / "told"
    with tf.Graph().as_default() as graph:
        drawn = tf.raw_ops.RandomUniform(shape=[2], dtype=tf.float32)
        tf.identity(drawn, "y")
        address = f"file://{folder}"
        two = tf.raw_ops.DebugIdentity(input=tf.constant([2]), tensor_name="two:0", debug_urls=[address])
        tf.fill(two, 1.0)  # its shape is asked
    path = _bundle(tmp_path, graph, "y:0", drawn.name)
    folder.rename(tmp_path / "told while the graph was made")
    with pytest.raises(TfdbgError, match=r"may reach files.*: DebugIdentity \(DebugIdentity\)"):
        again(path)
    assert not folder.exists()
    again(path, trust=True)
    assert folder.exists()
