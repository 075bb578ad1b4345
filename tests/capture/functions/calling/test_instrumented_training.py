"""Ten steps of training instrumented are ten steps of training, to the last bit."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from support.instrumented_calls import all_instrumented, names
from support.keras_steps import scope, step_name
from support.launched import python

pytestmark = pytest.mark.tf


def trained(layers, shape, optimizer="adam"):
    import keras

    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input(shape), *layers(keras.layers)])
    model.compile(optimizer, "mse", jit_compile=False)
    make = np.random.RandomState(0)
    x, y = make.randn(40, *shape).astype("float32"), make.randn(40, 1).astype("float32")
    history = model.fit(x, y, batch_size=8, epochs=2, verbose=0).history
    return history["loss"], model.evaluate(x, y, verbose=0), model.predict(x, verbose=0), model.get_weights()


MODELS = {
    "dense": (
        lambda k: [k.Dense(16, activation="relu"), k.BatchNormalization(), k.Dropout(0.3), k.Dense(1)],
        (8,),
    ),
    "recurrent": (
        lambda k: [k.GRU(5), k.Dropout(0.2), k.Dense(1)],
        (6, 4),
    ),
    "convolution": (
        lambda k: [k.Conv2D(8, 3, activation="relu"), k.MaxPool2D(), k.Flatten(), k.Dense(1)],
        (12, 12, 1),
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_keras_fit_evaluate_and_predict(kind) -> None:
    layers, shape = MODELS[kind]
    optimizer = (
        "sgd" if kind == "recurrent" else "adam"
    )  # what is updated is the same in all, and its loops are large
    expected = trained(layers, shape, optimizer)
    with all_instrumented() as found:
        got = trained(layers, shape, optimizer)
    assert got[0] == expected[0]
    assert got[1] == expected[1]
    for mine, theirs in zip([got[2], *got[3]], [expected[2], *expected[3]], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    steps = [outcome for instrumented, outcome in found if step_name() in instrumented.root.body.name]
    assert len(steps) >= 10
    inside = names(steps[0])
    assert len({(name, steps[0].captured[i].execution) for i, name in enumerate(inside)}) == len(inside)
    assert any(name.startswith(f"{scope()}gradient_tape/") for name in inside)


@pytest.mark.parametrize("control", ["while in cond", "cond in while"])
def test_a_custom_loop_with_control_flow(control) -> None:
    def run() -> list[float]:
        w = tf.Variable(tf.random.stateless_normal([4, 4], [1, 2]))

        def forward(x):
            if control == "while in cond":
                if tf.reduce_sum(x) > 0:
                    for _ in tf.range(3):
                        x = tf.tanh(x @ w)
            else:
                for i in tf.range(3):
                    if i % 2 == 0:  # noqa: SIM108
                        x = tf.tanh(x @ w)
                    else:
                        x = tf.sin(x @ w)
            return x

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = loss_of(x)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        @tf.function
        def loss_of(x):
            return tf.reduce_mean(forward(x) ** 2)

        x = tf.random.stateless_normal([5, 4], [3, 4])
        losses = [float(step(x)) for _ in range(10)]
        return [*losses, *w.numpy().ravel().tolist()]

    expected = run()
    with all_instrumented() as found:
        assert run() == expected
    assert any("/body/" in name for name in names(found[-1][1]))


def test_a_tape_around_a_function() -> None:
    def run() -> list[float]:
        w = tf.Variable([1.0, 2.0])

        @tf.function
        def loss_of(x):
            return tf.reduce_sum((w * x - 1.0) ** 2)

        losses = []
        for i in range(10):
            with tf.GradientTape() as tape:
                loss = loss_of(tf.constant([0.5, 0.1 * i]))
            w.assign_sub(0.1 * tape.gradient(loss, w))
            losses.append(float(loss))
        return [*losses, *w.numpy().tolist()]

    expected = run()
    with all_instrumented():
        assert run() == expected


def test_a_mirrored_strategy_names_its_replicas(tmp_path) -> None:
    """Two logical CPUs can only be asked for before TensorFlow starts, so this runs in a process of its own."""
    script = """
        import tensorflow as tf
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        from support.instrumented_calls import all_instrumented, names
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        with strategy.scope():
            v = tf.Variable([1.0, 2.0])

        @tf.function
        def step(x):
            def replica(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum((v * x) ** 2)
                gradient = tape.gradient(loss, v)
                v.assign_sub(0.01 * tf.distribute.get_replica_context().all_reduce("sum", gradient))
                for _ in tf.range(2):
                    loss = loss + 1.0
                return loss
            return strategy.run(replica, args=(x,))

        def value(context):
            return tf.constant([1.0 + context.replica_id_in_sync_group, 3.0])

        x = strategy.experimental_distribute_values_from_function(value)
        losses = [float(l) for l in step(x).values]
        weights = v.values[1].numpy().tolist()
        v.assign([1.0, 2.0])
        with all_instrumented() as found:
            assert [float(l) for l in step(x).values] == losses
        assert [w.numpy().tolist() for w in v.values] == [weights, weights]
        captured = found[-1][1].captured
        where = {str(captured[i].name): captured[i].device for i in range(len(captured))}
        assert where["mul:0"].endswith("CPU:0"), where["mul:0"]
        assert where["replica_1/mul:0"].endswith("CPU:1"), where["replica_1/mul:0"]
        assert any("replica_1/while/body/" in name for name in where), list(where)
        print("as expected")
    """
    here = Path(__file__).parent
    program = tmp_path / "program.py"  # a file, since AutoGraph reads the source
    paths = [str(here.parents[1]), str(here.parents[2])]
    program.write_text(f"import sys\nsys.path[:0] = {paths!r}\n{textwrap.dedent(script)}", encoding="utf-8")
    done = python(program)
    assert "as expected" in done.stdout, done.stderr[-3000:]
