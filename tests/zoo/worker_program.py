"""One of two workers of a MultiWorkerMirroredStrategy; in its second step the first one meets log(0)."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import tensorflow as tf

index, ports = int(sys.argv[1]), sys.argv[2].split(",")
os.environ["TF_CONFIG"] = json.dumps(
    {
        "cluster": {"worker": [f"localhost:{port}" for port in ports]},
        "task": {"type": "worker", "index": index},
    }
)

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    w = tf.Variable([1.0, 2.0], name="w")


def replica_step(x: Any) -> Any:
    """A step of one replica."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log(w * x))  # the line
    gradient = tf.distribute.get_replica_context().all_reduce("sum", tape.gradient(loss, w))
    w.assign_sub(0.1 * gradient)
    return loss


@tf.function
def step(x: Any) -> Any:
    """A step of this worker."""
    return strategy.run(replica_step, args=(x,))


for number in range(2):
    step(tf.constant([1.0, 0.0 if (number, index) == (1, 0) else 1.0]))
