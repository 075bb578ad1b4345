"""What TensorFlow computes while it reads a graph is known before it does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tf
v1 = tf.compat.v1

from tfdbg_cli.capture.replay.computed_early import outside_when_read  # noqa: E402
from tfdbg_cli.capture.replay.foreign_graph import imported  # noqa: E402


def _graph(build: Callable[[], Any]) -> bytes:
    with tf.Graph().as_default() as graph:
        v1.placeholder(tf.float32, [2], "x")
        build()
    made: bytes = graph.as_graph_def().SerializeToString()
    return made


def _length_in(path: Path) -> Any:
    numbers = tf.raw_ops.DecodeRaw(bytes=tf.raw_ops.ReadFile(filename=str(path)), out_type=tf.int32)
    return tf.fill(tf.reshape(numbers, [1]), 1.0, "wide")


def test_a_file_is_read_with_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "length"
    path.write_bytes(np.int32(7).tobytes())
    definition = _graph(lambda: _length_in(path))
    assert imported(definition).get_tensor_by_name("wide:0").shape == [7]  # so TensorFlow read it
    assert outside_when_read(definition) == {"ReadFile": "ReadFile"}


def test_what_waits_for_a_run_is_not_computed_early() -> None:
    """So graphs may hold a pipeline of files, as those of TensorFlow 1 do, which the run does not fetch."""

    def pipeline() -> None:
        queue = v1.FIFOQueue(2, [tf.string], [()])
        tf.io.decode_jpeg(tf.io.read_file(queue.dequeue()))
        tf.io.read_file(v1.placeholder(tf.string, [], "name"))
        v1.train.Saver([v1.get_variable("v", [2], use_resource=True)])
        v1.data.make_one_shot_iterator(v1.data.Dataset.range(3).batch(2)).get_next()

    assert outside_when_read(_graph(pipeline)) == {}


def test_a_shape_that_is_known_does_not_wait() -> None:
    """A blind test: a name that is made of the shape of what is fed."""
    definition = _graph(lambda: tf.io.read_file(tf.strings.as_string(tf.size(tf.identity(_fed())))))
    assert outside_when_read(definition) == {"ReadFile": "ReadFile"}


def _fed() -> Any:
    return v1.get_default_graph().get_tensor_by_name("x:0")


def test_what_only_computes_is_fine() -> None:
    assert outside_when_read(_graph(lambda: tf.fill(tf.range(2) + 1, 1.0))) == {}
