"""A step over two logical CPUs, debugged and undebugged; then with a fault in one replica. Run as a program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import tensorflow as tf

from tfdbg_cli.analysis.origin.search import OriginSearch
from zoo.twins import Program, twins, witnessed


def build(strategy: Any, bad: bool = False) -> Program:
    """Ten rows a replica; with `bad` those of the second one are zero."""
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
        model.build([None, 3])
        optimizer = tf.keras.optimizers.Adam(0.1)
        optimizer.build(model.trainable_variables)

    def rows(context: Any) -> Any:
        values = np.random.RandomState(context.replica_id_in_sync_group).rand(5, 3).astype(np.float32) + 0.5
        return tf.constant(values * (not (bad and context.replica_id_in_sync_group)))

    data = strategy.experimental_distribute_values_from_function(rows)

    def replica_step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(tf.math.log(x)) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def step(x: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(replica_step, (x,)), axis=None)

    def state() -> list[Any]:
        variables = (*model.variables, *optimizer.variables)
        return [part for v in variables for part in strategy.experimental_local_results(v.value)]

    return Program(lambda: step(data), state)


def main() -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    twins(lambda: build(strategy))
    program = build(strategy, bad=True)
    with witnessed() as witness:
        program.step()
    origin = OriginSearch(witness.runs[-1]).first()
    assert origin is not None
    replica = 1 if "replica_1" in origin.name.node or "CPU:1" in origin.device else 0
    print(f"identical; origin {origin.op_type} in replica {replica}")


if __name__ == "__main__":
    main()
