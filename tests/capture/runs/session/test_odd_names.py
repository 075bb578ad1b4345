"""Names of nodes that cannot be names of files: TensorFlow would end the process, so nothing is dumped."""

from __future__ import annotations

import pytest
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, GraphChoice

pytestmark = pytest.mark.tf


@pytest.mark.parametrize("name", ["scope/" + "x" * 240, "a/" * 1600 + "b", "a/../../../up"])
@pytest.mark.parametrize("graph", [GraphChoice.AUTO, GraphChoice.RUNTIME])
def test_a_name_that_is_no_file_is_captured_in_memory(name, graph, monkeypatch):
    import tensorflow.compat.v1 as tf

    front = ScriptedFrontend(DebugRun(CaptureRequest(graph=graph)), Continue())
    monkeypatch.setattr("tfdbg_cli.api.session_debuggers.choose_frontend", lambda ui, **arguments: front)
    with tf.Graph().as_default(), tf.Session() as raw:
        y = tf.log(tf.constant([0.0]), name="y")
        z = tf.identity(y, name=name)
        session = tf_debug.LocalCLIDebugWrapperSession(raw)
        assert session.run(z).tolist() == [float("-inf")]
    run = front.ends[0].run
    assert run.tensors.named("y", 0)
    assert run.graph.kind == "Python graph"
    if graph is GraphChoice.RUNTIME:
        assert "cannot be that of a file, though the runtime graph was asked for" in run.notes[0]
        assert len(run.notes[0]) < 160


def test_a_name_of_ordinary_length_is_dumped(monkeypatch):
    import tensorflow.compat.v1 as tf

    front = ScriptedFrontend(DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME)), Continue())
    monkeypatch.setattr("tfdbg_cli.api.session_debuggers.choose_frontend", lambda ui, **arguments: front)
    with tf.Graph().as_default(), tf.Session() as raw:
        x = tf.placeholder(tf.float32, [], name="x")
        session = tf_debug.LocalCLIDebugWrapperSession(raw)
        session.run(tf.log(x, name="y" * 150), {x: 1.0})
    assert front.ends[0].run.graph.kind == "runtime graph"
