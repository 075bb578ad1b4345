"""Training as people write it: two optimizers, half precision, moving averages, gradients of their own making."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactness.courses import Build, Plant, Program, stepwise, variables
from exactness.programs.fitting import fitted, hiding
from exactness.programs.planting import batches, hidden, joined, labels, numbers, start, weight


def half_precision(policy: str) -> Build:
    """Layers under a policy of mixed precision, with the scale of the loss that Keras moves."""

    def build(plant: Plant) -> Program:
        import keras
        import tensorflow as tf

        model = keras.Sequential(
            [
                keras.Input((6,)),
                keras.layers.Dense(16, activation="relu", dtype=policy),
                keras.layers.LayerNormalization(dtype=policy),
                keras.layers.Dense(16, activation="gelu", dtype=policy),
                keras.layers.Dense(2, dtype="float32"),
            ]
        )
        optimizer = keras.optimizers.LossScaleOptimizer(
            keras.optimizers.AdamW(0.01, weight_decay=0.01), initial_scale=1024.0, dynamic_growth_steps=5
        )
        optimizer.build(model.trainable_variables)

        @tf.function
        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(hidden(x), training=True) - y) ** 2)
                scaled = optimizer.scale_loss(loss)
            gradients = tape.gradient(scaled, [v.value for v in model.trainable_variables])
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        return _on_batches(step, plant, 6, lambda: variables(model, optimizer))

    return build


def own_gradients(plant: Plant) -> Program:
    """A rounding that lets gradients through, one that turns them round, and a layer computed twice for its own."""
    import tensorflow as tf

    first, second, third = (weight(seed, 6, 6) for seed in (1, 2, 3))
    held = [first, second, third]

    @tf.custom_gradient
    def rounded(x: Any) -> Any:
        return tf.round(x * 8.0) / 8.0, lambda above: above * tf.cast(tf.abs(x) < 2.0, tf.float32)

    @tf.custom_gradient
    def turned(x: Any) -> Any:
        return tf.identity(x), lambda above: -0.3 * above

    @tf.recompute_grad
    def layer(x: Any) -> Any:
        return tf.nn.silu(x @ first) @ second

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            h = rounded(layer(hidden(x)))
            loss = tf.reduce_mean((h @ third - y) ** 2) + 0.1 * tf.reduce_mean(tf.nn.softplus(turned(h) @ third))
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.1 * tf.clip_by_norm(gradient, 1.0))
        return loss

    return _on_batches(step, plant, 6, lambda: variables(held), out=6)


def stateful(plant: Plant) -> Program:
    """A GRU that goes on where the batch before ended, and is sent back to zero every seventh."""
    import keras
    import tensorflow as tf

    recurrent, head = keras.layers.GRU(8, stateful=True, return_sequences=True), keras.layers.Dense(2)
    recurrent.build((4, 5, 6))
    head.build((4, 5, 8))
    held = [*recurrent.trainable_variables, *head.trainable_variables]
    optimizer = keras.optimizers.RMSprop(0.01, momentum=0.5)
    optimizer.build(held)

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            given = head(recurrent(hidden(x), training=True))
            loss = tf.reduce_mean((given[:, -1] - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [v.value for v in held]), held, strict=True))
        return loss

    def at(number: int) -> Any:
        if number % 7 == 6:
            recurrent.reset_states() if hasattr(recurrent, "reset_states") else recurrent.reset_state()
        data = numbers(plant, number, 4, 5, 6)
        return step(data, tf.constant(labels(1, 4, 2, seed=number)[0]))

    return Program(stepwise(at), lambda: variables(recurrent, head, optimizer))


def averaged_by_callback(plant: Plant) -> Program:
    """`fit` with a callback that keeps moving averages of the weights, eagerly, behind every batch."""
    import keras

    model = keras.Sequential(
        [
            keras.Input((6,)),
            hiding(keras),
            keras.layers.Dense(8, "swish"),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(2),
        ]
    )
    model.compile(keras.optimizers.Nadam(0.01), keras.losses.Huber(), metrics=["mae"])
    averages = [keras.Variable(v.value, name=f"average{at}") for at, v in enumerate(model.trainable_variables)]

    class Average(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            for average, variable in zip(averages, model.trainable_variables, strict=True):
                average.assign(0.9 * average + 0.1 * variable)

    def data(steps: int) -> tuple[Any, Any]:
        return joined(batches(plant, steps, 4, 6)), joined(labels(steps, 4, 2))

    program = fitted(keras, model, data, 4, [Average()])
    return Program(program.results, lambda: {**program.state(), **variables(averages)})


def accumulated(plant: Plant) -> Program:
    """Gradients are added up over three batches by hand, and applied in a branch."""
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, "tanh"), keras.layers.Dense(2)])
    held = model.trainable_variables
    adam = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(0.02, 10, warmup_target=0.05, warmup_steps=3))
    adam.build(held)
    sums = [tf.Variable(tf.zeros(v.shape), name=f"sum{at}") for at, v in enumerate(held)]
    count = tf.Variable(0, name="count")

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(keras.losses.cosine_similarity(y, model(hidden(x)))) / 3.0
        for total, gradient in zip(sums, tape.gradient(loss, [v.value for v in held]), strict=True):
            total.assign_add(gradient)
        count.assign_add(1)
        if count % 3 == 0:
            adam.apply_gradients(zip([tf.clip_by_norm(total, 1.0) for total in sums], held, strict=True))
            for total in sums:
                total.assign(tf.zeros_like(total))
        return loss

    return _on_batches(step, plant, 6, lambda: variables(model, adam, sums, [count]))


def two_networks(plant: Plant) -> Program:
    """A generator and what tells its work from data, each with its optimizer, with a penalty on a slope."""
    import keras
    import tensorflow as tf

    maker = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, "leaky_relu"), keras.layers.Dense(6)])
    judge = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "elu"), keras.layers.Dense(1)])
    makes, judges = keras.optimizers.Adam(0.01, beta_1=0.5), keras.optimizers.RMSprop(0.005)
    makes.build(maker.trainable_variables)
    judges.build(judge.trainable_variables)
    count = tf.Variable(0, name="count")

    @tf.function
    def step(x: Any, _: Any) -> Any:
        x = hidden(x)
        noise = tf.random.stateless_normal([4, 3], tf.stack([count.assign_add(1), 3]))
        with tf.GradientTape(persistent=True) as tape:
            made = maker(noise)
            mixed = 0.3 * x + 0.7 * made
            with tf.GradientTape() as inner:
                inner.watch(mixed)
                told = judge(mixed)
            slope = tf.sqrt(tf.reduce_sum(inner.gradient(told, mixed) ** 2, 1) + 1e-12)
            real, unreal = judge(x), judge(made)
            lost = tf.reduce_mean(unreal) - tf.reduce_mean(real) + 10.0 * tf.reduce_mean((slope - 1.0) ** 2)
            won = -tf.reduce_mean(unreal)
        for loss, network, optimizer in ((lost, judge, judges), (won, maker, makes)):
            gradients = tape.gradient(loss, [v.value for v in network.trainable_variables])
            optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return lost, won

    return _on_batches(step, plant, 6, lambda: variables(maker, judge, makes, judges, [count]))


def learned_to_learn(plant: Plant) -> Program:
    """A step inside a step: gradients through an update, and those of each row by `batch_jacobian`."""
    import tensorflow as tf

    first, second, rate = weight(1, 6, 8), weight(2, 8, 2), tf.Variable(0.1, name="rate")
    held = [first, second, rate]

    @tf.function
    def step(x: Any, y: Any) -> Any:
        x = hidden(x)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch([first, second])
                loss = tf.reduce_mean((tf.tanh(x[:2] @ first) @ second - y[:2]) ** 2)
            quick = [
                v - rate * g for v, g in zip([first, second], inner.gradient(loss, [first, second]), strict=True)
            ]
            after = tf.reduce_mean((tf.tanh(x[2:] @ quick[0]) @ quick[1] - y[2:]) ** 2)
        gradients = outer.gradient(after, held)
        with tf.GradientTape() as rows:
            rows.watch(x)
            given = tf.tanh(x @ first) @ second
        each = tf.norm(rows.batch_jacobian(given, x), axis=[1, 2])
        for variable, gradient in zip(held, gradients, strict=True):
            variable.assign_sub(0.05 * gradient / (1.0 + tf.reduce_mean(each)))
        return after, each

    return _on_batches(step, plant, 6, lambda: variables(held))


def spectral(plant: Plant) -> Program:
    """A loss of spectra: complex numbers, windows, magnitudes and their logarithms."""
    import tensorflow as tf

    kernel, phase = weight(1, 16, 16), weight(2, 1, 9)
    held = [kernel, phase]

    @tf.function
    def step(x: Any, _: Any) -> Any:
        with tf.GradientTape() as tape:
            given = tf.tanh(hidden(x) @ kernel)
            found = tf.signal.stft(given, 16, 8, pad_end=True) * tf.exp(tf.complex(tf.zeros_like(phase), phase))
            size = tf.abs(found + 1e-3)
            loss = tf.reduce_mean(tf.math.log1p(size)) + tf.reduce_mean(
                tf.abs(tf.signal.irfft(found) - given[:, None])
            )
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss, size

    return _on_batches(step, plant, 16, lambda: variables(held))


def contrasted(plant: Plant) -> Program:
    """Pairs are told from a queue of earlier keys; the network of the keys follows the other by a momentum."""
    import tensorflow as tf

    query, key = weight(1, 6, 8), tf.Variable(start(1, 6, 8), name="key")
    queue, at_row = tf.Variable(tf.math.l2_normalize(start(2, 12, 8), 1), name="queue"), tf.Variable(0, name="row")
    moved, squares = tf.Variable(tf.zeros([6, 8])), tf.Variable(tf.zeros([6, 8]))
    generator = tf.random.Generator.from_seed(4)

    @tf.function
    def step(x: Any, _: Any) -> Any:
        x = hidden(x)
        key.assign(0.9 * key + 0.1 * query)
        keys = tf.math.l2_normalize((x + 0.05 * generator.normal([4, 6])) @ key, 1)
        with tf.GradientTape() as tape:
            queries = tf.math.l2_normalize(x @ query, 1)
            near = tf.reduce_sum(queries * keys, 1, keepdims=True)
            logits = tf.concat([near, queries @ tf.transpose(queue)], 1) / 0.2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.zeros([4], tf.int32), logits))
        gradient = tape.gradient(loss, query)
        moved.assign(0.9 * moved + 0.1 * gradient)
        squares.assign(0.99 * squares + 0.01 * gradient**2)
        query.assign_sub(0.01 * (moved / (1.0 - 0.9)) / (tf.sqrt(squares / (1.0 - 0.99)) + 1e-7) + 1e-4 * query)
        queue.scatter_nd_update(tf.range(4)[:, None] + at_row, keys)
        at_row.assign((at_row + 4) % 12)
        return loss, tf.reduce_mean(tf.cast(tf.argmax(logits, 1) == 0, tf.float32))

    return _on_batches(
        step, plant, 6, lambda: variables([query, key, queue, at_row, moved, squares, generator.state])
    )


def experts(plant: Plant) -> Program:
    """Rows go to the expert that a gate chose, by `dynamic_partition`, and come back by `dynamic_stitch`."""
    import tensorflow as tf

    gate, ones = weight(1, 6, 3), [weight(2 + at, 6, 6) for at in range(3)]
    held = [gate, *ones]

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            x = hidden(x)
            odds = tf.nn.softmax(x @ gate)
            chosen = tf.argmax(odds, 1, output_type=tf.int32)
            parts = tf.dynamic_partition(x, chosen, 3)
            rows = tf.dynamic_partition(tf.range(tf.shape(x)[0]), chosen, 3)
            given = [tf.nn.relu(part @ one) for part, one in zip(parts, ones, strict=True)]
            whole = tf.dynamic_stitch(rows, given) * tf.reduce_max(odds, 1, keepdims=True)
            spread = tf.reduce_sum(tf.reduce_mean(odds, 0) * tf.math.bincount(chosen, minlength=3, dtype=tf.float32))
            loss = tf.reduce_mean((tf.sort(whole, 1) - y) ** 2) + 0.01 * spread
        for variable, gradient in zip(held, tape.gradient(loss, held), strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss, chosen

    return _on_batches(step, plant, 6, lambda: variables(held), out=6)


def wide_and_deep(plant: Plant) -> Program:
    """`fit` of a linear part by Ftrl and a network by Lion in a `train_step` of its own, many steps a call."""
    import keras
    import tensorflow as tf

    class WideAndDeep(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.hide = hiding(keras)
            self.wide, self.norm = keras.layers.Dense(2), keras.layers.BatchNormalization()
            self.deep, self.head = keras.layers.Dense(8, "relu"), keras.layers.Dense(2)
            self.linear = keras.optimizers.Ftrl(0.05, l1_regularization_strength=0.01)
            self.other = keras.optimizers.Lion(0.003)

        def call(self, x: Any, training: bool = False) -> Any:
            x = self.hide(x)
            return self.wide(x) + self.head(self.norm(self.deep(x), training=training))

        def train_step(self, data: Any) -> Any:
            x, y = data
            wide = self.wide.trainable_variables
            rest = [v for v in self.trainable_variables if all(v is not one for one in wide)]
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, [v.value for v in (*wide, *rest)])
            self.linear.apply_gradients(zip(gradients[: len(wide)], wide, strict=True))
            self.other.apply_gradients(zip(gradients[len(wide) :], rest, strict=True))
            return {"loss": loss}

    model = WideAndDeep()
    model.compile(loss="mse", optimizer="sgd", steps_per_execution=2)
    model(np.zeros((4, 6), np.float32))

    def data(steps: int) -> tuple[Any, Any]:
        return joined(batches(plant, steps, 4, 6)), joined(labels(steps, 4, 2))

    return fitted(keras, model, data, 4)


def _on_batches(step: Any, plant: Plant, width: int, state: Any, out: int = 2) -> Program:
    """`step` with batches of four rows, and numbers to learn."""
    import tensorflow as tf

    def at(number: int) -> Any:
        return step(numbers(plant, number, 4, width), tf.constant(labels(1, 4, out, seed=number)[0]))

    return Program(stepwise(at), state)


PROGRAMS = {
    "half precision": lambda: half_precision("mixed_float16"),
    "bfloat16": lambda: half_precision("mixed_bfloat16"),
    "own gradients": lambda: own_gradients,
    "stateful": lambda: stateful,
    "averaged by callback": lambda: averaged_by_callback,
    "accumulated": lambda: accumulated,
    "two networks": lambda: two_networks,
    "learned to learn": lambda: learned_to_learn,
    "spectral": lambda: spectral,
    "contrasted": lambda: contrasted,
    "experts": lambda: experts,
    "wide and deep": lambda: wide_and_deep,
}
