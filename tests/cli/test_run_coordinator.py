"""`tfdbg run` on a program that has its steps scheduled by a ClusterCoordinator: what it does not see it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launched import python

pytestmark = pytest.mark.tf

PROGRAM = """\
import socket
import tensorflow as tf

def address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"

cluster = tf.train.ClusterSpec({"worker": [address()], "ps": [address()]})
servers = [tf.distribute.Server(cluster, name, 0, protocol="grpc") for name in ("worker", "ps")]
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    w = tf.Variable(0.0)

@tf.function
def step():
    return tf.math.log(w)

for _ in range(3):
    found = coordinator.schedule(step)
    coordinator.join()
    print(found.fetch(), flush=True)
import os
os._exit(0)  # servers of TensorFlow have no end of their own
"""


def test_what_a_coordinator_schedules_is_named_as_out_of_sight(tmp_path: Path) -> None:
    """A blind test: the results were -inf, and all that was said was that nothing had passed."""
    (tmp_path / "train.py").write_text(PROGRAM)
    done = python("-m", "tfdbg_cli", "run", "--watch", "train.py", folder=tmp_path)
    assert done.stdout == "-inf\n" * 3 and done.returncode == 0, done.stderr
    assert done.stderr.count("tfdbg: What a ClusterCoordinator schedules runs on its workers") == 1
