"""Training under a watch gives the bits that it gives without one, by both ways of a watch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.model.decision import Decision, RunUntil, Values
from tfdbg_cli.model.runs import RunEnd, Stop
from zoo.twins import Program, Witness, assert_identical, course, seeded, witnessed

pytestmark = [pytest.mark.tf, pytest.mark.slow]

RNG = np.random.RandomState(5)


class ActiveWatch(Witness):
    """A front end that watches from the first run on, and looks once how it went."""

    def __init__(self, values: Values) -> None:
        super().__init__()
        self._values = values

    def stop(self, event: Stop) -> Decision:
        assert not isinstance(event, RunEnd), (event.hit, event.run.error)
        self.count += 1
        return RunUntil("has_inf_or_nan", values=self._values)


def _accumulating() -> Program:
    """Gradients are summed over two steps; `Dense` with tanh is fused; a branch makes the update."""
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(1, "sigmoid")])
    optimizer = keras.optimizers.AdamW(1e-2)
    optimizer.build(model.trainable_variables)
    sums = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]
    seen = tf.Variable(0)
    x, y = (tf.constant(RNG.uniform(0.5, 1.5, size).astype(np.float32)) for size in ((20, 6), (20, 1)))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.huber(y, model(x, training=True)) * tf.sqrt(tf.abs(x[:, 0])))
        for total, gradient in zip(sums, tape.gradient(loss, model.trainable_variables), strict=True):
            total.assign_add(gradient)
        seen.assign_add(1)
        if seen % 2 == 0:
            clipped, _ = tf.clip_by_global_norm([total / 2.0 for total in sums], 0.5)
            optimizer.apply_gradients(zip(clipped, model.trainable_variables, strict=True))
            for total in sums:
                total.assign(tf.zeros_like(total))
        return loss

    return Program(step, lambda: [*(v.value for v in (*model.variables, *optimizer.variables)), *sums])


def _recurrent() -> Program:
    import keras

    words = keras.Input((9,), dtype="int32")
    hidden = keras.layers.Embedding(30, 6, mask_zero=True)(words)
    hidden = keras.layers.Bidirectional(keras.layers.LSTM(5, return_sequences=True, dropout=0.2))(hidden)
    hidden = keras.layers.GRU(4, return_sequences=True)(hidden)
    model = keras.Model(words, keras.layers.Dense(1)(keras.layers.SimpleRNN(3)(hidden)))
    model.compile(keras.optimizers.RMSprop(1e-3, clipnorm=1.0), "mse", jit_compile=False)
    x, y = RNG.randint(1, 30, (8, 9)), RNG.normal(size=(8, 1)).astype(np.float32)
    x[2:5, 6:] = 0
    return Program(
        lambda: model.train_on_batch(x, y), lambda: [v.value for v in (*model.variables, *model.optimizer.variables)]
    )


def _embedded() -> Program:
    """Sparse updates, divided by a root (the optimizer makes a product with `Rsqrt` of it)."""
    import keras
    import tensorflow as tf

    table, context = (tf.Variable(tf.random.stateless_normal([50, 6], [seed, 2])) for seed in (1, 3))
    sums = tf.Variable(tf.fill([50, 6], 0.1))
    optimizer = keras.optimizers.Adagrad(0.1)
    optimizer.build([context])
    words, near = (tf.constant(RNG.randint(0, 50, 8)) for _ in range(2))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            product = tf.reduce_sum(tf.nn.embedding_lookup(table, words) * tf.gather(context, near), -1)
            loss = -tf.reduce_mean(tf.math.log_sigmoid(product)) - tf.reduce_mean(tf.math.log(tf.nn.softmax(product)))
        first, second = tape.gradient(loss, [table, context])
        unique, at = tf.unique(first.indices)
        summed = tf.math.unsorted_segment_sum(first.values, at, tf.size(unique))
        sums.scatter_add(tf.IndexedSlices(summed**2, unique))
        table.scatter_sub(tf.IndexedSlices(0.1 * summed / tf.sqrt(tf.gather(sums, unique)), unique))
        optimizer.apply_gradients([(second, context)])
        return loss

    return Program(step, lambda: [table, context, sums, *(v.value for v in optimizer.variables)])


@pytest.mark.parametrize("values", [Values.AUTO, Values.KEEP])
@pytest.mark.parametrize("build", [_accumulating, _recurrent, _embedded])
def test_training(build: Callable[[], Program], values: Values) -> None:
    plain = course(seeded(_fresh(build)), 6)
    assert plain.error is None, plain.error
    program = seeded(_fresh(build))
    with witnessed(ActiveWatch(values)) as watching:
        watched = course(program, 6)
    assert_identical(plain, watched)
    assert watching.count == 1, "the watch was on, and nothing was found"


def _fresh(build: Callable[[], Program]) -> Callable[[], Program]:
    """`build` with the same data each time."""

    def made() -> Program:
        RNG.seed(5)
        return build()

    return made
